// schema.mjs [--server] NAME=LOG…: whether each line of a LOG (tee.py, bridge.mjs) is what the specification's schema of its era has, in both directions;
// behind --server, for the lines of the server alone: the conformance suite says wrong things on purpose.
//
// The schemas are those inside the conformance suite, which has no file of them. They stand in its program as objects.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'

const modules = process.env.MODULES
const require = createRequire(`${modules}/x.js`)
const Ajv = require('ajv/dist/2020.js').default
const formats = require('ajv-formats').default
const MODERN = 'io.modelcontextprotocol/protocolVersion'

// The object that begins here: braces, and texts in which they mean nothing.
function objectAt(text, at) {
	let depth = 0, quote = ''
	for (let i = at; i < text.length; i++) {
		const c = text[i]
		if (quote) {
			if (c === '\\')
				i++
			else if (c === quote)
				quote = ''
		} else if (c === '`' || c === '"' || c === "'")
			quote = c
		else if (c === '{')
			depth++
		else if (c === '}' && !--depth)
			return runInNewContext(`(${text.slice(at, i + 1)})`)
	}
	throw new Error('a schema has no end')
}

function schemas() {
	const text = readFileSync(`${modules}/@modelcontextprotocol/conformance/dist/index.js`, 'utf8')
	const found = [...text.matchAll(/\{\$schema:`https:\/\/json-schema\.org\/draft\/2020-12\/schema`,\$defs:/g)].map((m) => objectAt(text, m.index))
	const one = (has, not) => found.find((s) => s.$defs[has] && !s.$defs[not])
	const both = { legacy: one('InitializeRequest', 'DiscoverRequest'), modern: one('DiscoverRequest', 'InitializeRequest') }
	if (!both.legacy || !both.modern)
		throw new Error('the conformance suite has no schemas of both eras')
	return both
}

// What a message is by its method, and a result by that of its request.
class Era {
	constructor(schema) {
		const ajv = new Ajv({ strict: false, allErrors: true })
		formats(ajv)
		ajv.addFormat('byte', true)
		ajv.addSchema({ ...JSON.parse(JSON.stringify(schema)), $id: 'mcp:' })
		this.defs = schema.$defs
		this.methods = new Map()
		for (const [name, def] of Object.entries(this.defs))
			if (def.properties?.method?.const && !/^(Client|Server)/.test(name))
				this.methods.set(def.properties.method.const, name)
		this.judge = (name, value) => {
			const valid = ajv.getSchema(`mcp:#/$defs/${name}`)
			return valid(value) ? [] : valid.errors.slice(0, 4).map((e) => `${name}${e.instancePath}: ${e.message}`)
		}
	}
	request(m) {
		const name = this.methods.get(m.method)
		return name ? this.judge(name, m) : this.judge('id' in m ? 'JSONRPCRequest' : 'JSONRPCNotification', m)
	}
	answer(m, method) {
		if (m.error)
			return this.judge('JSONRPCErrorResponse', m)
		const name = m.result?.resultType === 'input_required' ? 'InputRequiredResult' : this.methods.get(method)?.replace(/Request$/, 'Result')
		return [...this.judge('JSONRPCResultResponse', m), ...(name && this.defs[name] ? this.judge(name, m.result) : [])]
	}
}

const eras = Object.fromEntries(Object.entries(schemas()).map(([name, schema]) => [name, new Era(schema)]))

function judgeLog(log, serverOnly) {
	const asked = new Map(), wrong = []
	const n = { client: 0, server: 0 }
	for (const row of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
		const { from, of, line } = JSON.parse(row)
		let errors = [], m
		n[from]++
		try {
			m = JSON.parse(line)
		} catch {
			wrong.push(`${from}: no JSON: ${line.slice(0, 200)}`)
			continue
		}
		const key = (who, id) => `${of} ${who} ${JSON.stringify(id)}`
		if (m.method !== undefined) {
			const era = m.params?._meta?.[MODERN] !== undefined ? 'modern' : 'legacy'
			if (m.id !== undefined)
				asked.set(key(from, m.id), { era, method: m.method })
			// What belongs to a request has no word on its era, and is the same in both.
			errors = eras[era].request(m)
			if (errors.length && m.id === undefined)
				errors = eras.modern.request(m)
		} else {
			const q = asked.get(key(from === 'client' ? 'server' : 'client', m.id))
			errors = q ? eras[q.era].answer(m, q.method) : m.error && m.id === null ? [] : ['an answer to nothing']
		}
		if (from === 'client' && serverOnly)
			continue
		wrong.push(...errors.map((e) => `${from}: ${e}: ${line.slice(0, 300)}`))
	}
	return { n, wrong }
}

let failed = 0, serverOnly = false
for (const word of process.argv.slice(2)) {
	if (word === '--server') {
		serverOnly = true
		continue
	}
	const [name, log] = word.split('=')
	const { n, wrong } = judgeLog(log, serverOnly)
	for (const w of wrong.slice(0, 20))
		console.log(`    ${w}`)
	if (wrong.length || !n.client || !n.server) {
		console.log(`not ok mcp lines-${name}: ${wrong.length} of ${n.client} and ${n.server} lines are not as the schema has them`)
		failed = 1
	} else {
		console.log(`ok mcp lines-${name}`)
		console.log(`# ${name}: ${n.client} lines of the client, ${n.server} of the server`)
	}
}
process.exit(failed)
