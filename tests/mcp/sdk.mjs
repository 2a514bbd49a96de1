// sdk.mjs WAY LOG PROGRAM ARG…: the official client in one WAY, and all that it is used for: sdk1, legacy, auto, modern (sdk 2.4).
//
// The SDK checks results against the schemas of tools by itself, and throws. $STATE is the server's state directory.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [way, log, program, ...words] = process.argv.slice(2)
const require = createRequire(`${process.env.MODULES}/x.js`)
const load = (name) => import(pathToFileURL(require.resolve(name)))
const old = way === 'sdk1'
const modern = way === 'auto' || way === 'modern'
const sdk = old ? await load('@modelcontextprotocol/sdk/client/index.js') : await load('@modelcontextprotocol/client')
const stdio = old ? await load('@modelcontextprotocol/sdk/client/stdio.js') : await load('@modelcontextprotocol/client/stdio')
const elicit = old ? (await load('@modelcontextprotocol/sdk/types.js')).ElicitRequestSchema : 'elicitation/create'

const questions = []
let decision = 'allow_once'

async function connect(capabilities) {
	const mode = way === 'modern' ? { pin: '2026-07-28' } : way
	const client = new sdk.Client({ name: `tests-${way}`, version: '1' }, { capabilities, ...(old ? {} : { versionNegotiation: { mode } }) })
	if (capabilities.elicitation)
		client.setRequestHandler(elicit, async (q) => {
			questions.push(q.params)
			return decision ? { action: 'accept', content: { decision } } : { action: 'decline' }
		})
	await client.connect(new stdio.StdioClientTransport({
		command: 'python3', args: [new URL('tee.py', import.meta.url).pathname, log, program, ...words], env: process.env, stderr: 'inherit' }))
	return client
}

const call = (client, name, args, options) =>
	old ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options)
const boxes = () => JSON.parse(execFileSync(program, ['--root', process.env.STATE, 'box', 'list', '--json']))

const uses = {
	async the_tools_are_listed_with_schemas_and_hints(c) {
		const { tools } = await c.listTools()
		assert.ok(tools.length >= 15)
		for (const t of tools)
			for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])
				assert.equal(typeof t.annotations[hint], 'boolean', t.name)
		if (!modern)
			assert.equal(c.getServerVersion().name, 'sbxrun')
	},
	async code_runs_after_a_person_allowed_it(c) {
		decision = 'allow_once'
		const r = await call(c, 'code_execute', { language: 'python', code: 'print(6*7)' })
		assert.equal(r.structuredContent.stdout, '42\n')
		assert.deepEqual(JSON.parse(r.content[0].text), r.structuredContent)
		assert.match(questions.at(-1).message, /print\(6\*7\)/)
		this.box = r.structuredContent.sandbox_id
	},
	async nothing_runs_that_a_person_declined(c) {
		for (decision of ['deny', null]) {
			const r = await call(c, 'box_exec', { sandbox_id: this.box, command: ['touch', 'made'] })
			assert.equal(r.isError, true)
			assert.match(r.content[0].text, /^Denied/)
		}
		decision = 'allow_for_box'
		const r = await call(c, 'code_list_files', { sandbox_id: this.box })
		assert.ok(!r.structuredContent.files.some((f) => f.name === 'made'))
	},
	async a_program_that_fails_is_no_failed_call(c) {
		decision = 'allow_for_box'
		const r = await call(c, 'code_execute', { language: 'python', code: 'raise SystemExit(3)', sandbox_id: this.box })
		assert.deepEqual([r.isError ?? false, r.structuredContent.exit_code], [false, 3])
		const n = questions.length
		await call(c, 'code_execute', { language: 'python', code: 'pass', sandbox_id: this.box })
		assert.equal(questions.length, n, 'it was allowed for this box')
		const wrong = await call(c, 'code_execute', { language: 'cobol', code: 'x' })
		assert.equal(wrong.isError, true)
		await assert.rejects(call(c, 'no_such_tool', {}), /no_such_tool|Unknown tool/)
	},
	async files_are_written_read_and_resources(c) {
		const text = 'Grüße\n"x" 😀'
		await call(c, 'code_write_file', { sandbox_id: this.box, file_path: 'd/e.txt', content: text })
		assert.equal((await call(c, 'code_read_file', { sandbox_id: this.box, file_path: 'd/e.txt' })).structuredContent.content, text)
		const { resourceTemplates } = await c.listResourceTemplates()
		assert.match(resourceTemplates[0].uriTemplate, /^sbx:/)
		assert.ok((await c.listResources()).resources.some((r) => r.uri === `sbx://${this.box}/`))
		assert.equal((await c.readResource({ uri: `sbx://${this.box}/d/e.txt` })).contents[0].text, text)
		await assert.rejects(c.readResource({ uri: `sbx://${this.box}/none` }))
		const png = 'import base64; open("a.png","wb").write(base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="))'
		await call(c, 'code_execute', { language: 'python', code: png, sandbox_id: this.box })
		const image = (await call(c, 'view_image', { sandbox_id: this.box, file_path: 'a.png' })).content[0]
		assert.deepEqual([image.type, image.mimeType], ['image', 'image/png'])
	},
	async a_call_that_is_given_up_is_ended(c) {
		const given_up = new AbortController()
		const code = 'open("began","w")\nimport time; time.sleep(1000)'
		const running = call(c, 'code_execute', { language: 'python', code, sandbox_id: this.box, timeout: 900 }, { signal: given_up.signal })
		running.catch(() => {})
		for (const deadline = Date.now() + 60000; ; ) {
			const { structuredContent } = await call(c, 'code_list_files', { sandbox_id: this.box })
			if (structuredContent.files.some((f) => f.name === 'began'))
				break
			assert.ok(Date.now() < deadline, 'it did not begin')
		}
		given_up.abort('enough')
		await assert.rejects(running)
		const r = await call(c, 'code_execute', { language: 'python', code: 'print(5)', sandbox_id: this.box })
		assert.equal(r.structuredContent.stdout, '5\n')
	},
	async a_box_is_destroyed(c) {
		const r = await call(c, 'code_destroy_sandbox', { sandbox_id: this.box })
		assert.equal(r.structuredContent.success, true)
	},
}

const state = {}
let client, failed = 0
try {
	client = await connect({ elicitation: modern ? { form: {} } : {} })
	for (const [name, use] of Object.entries(uses))
		try {
			await use.call(state, client)
			console.log(`ok mcp ${way}-${name}`)
		} catch (e) {
			failed = 1
			console.log(`    ${String(e.stack).replaceAll('\n', '\n    ')}`)
			console.log(`not ok mcp ${way}-${name}: ${String(e.message).split('\n')[0]}`)
		}
	await client.close()
	const deadline = Date.now() + 60000
	while (boxes().length && Date.now() < deadline)
		;
	assert.deepEqual(boxes(), [], 'boxes are left')
	console.log(`ok mcp ${way}-it_leaves_nothing`)
} catch (e) {
	failed = 1
	console.log(`not ok mcp ${way}-all: ${String(e.stack).split('\n').slice(0, 3).join(' ')}`)
}
process.exit(failed)
