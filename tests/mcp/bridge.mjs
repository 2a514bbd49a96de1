// bridge.mjs: `sbxrun mcp` behind HTTP, as far as the conformance suite needs it, for that knows no standard input and output.
//
//	node bridge.mjs LOG PROGRAM ARG…	prints its address, and serves until its input ends
//
// A session of the legacy era has a server of its own, all requests of the modern era share one. Headers are the bridge's affair, and all that
// is judged by them says nothing of the server: conformance.yml names those scenarios. LOG gets each line that went either way.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [log, program, ...words] = process.argv.slice(2)
const MODERN = 'io.modelcontextprotocol/protocolVersion'

class Server {
	constructor() {
		this.open = new Map() // our id to the request that waits
		this.n = 0
		this.rest = ''
		this.child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
		this.child.stdout.setEncoding('utf8').on('data', (text) => this.hear(text))
		this.child.stdin.on('error', () => {})
	}
	say(message) {
		const line = JSON.stringify(message)
		appendFileSync(log, JSON.stringify({ from: 'client', of: this.child.pid, line }) + '\n')
		this.child.stdin.write(line + '\n')
	}
	hear(text) {
		const lines = (this.rest + text).split('\n')
		this.rest = lines.pop()
		for (const line of lines) {
			appendFileSync(log, JSON.stringify({ from: 'server', of: this.child.pid, line }) + '\n')
			this.pass(JSON.parse(line))
		}
	}
	pass(m) {
		if (m.method === undefined) {
			const r = this.open.get(m.id)
			this.open.delete(m.id)
			r?.end({ ...m, id: r.id })
			return
		}
		const token = m.params?.progressToken, all = [...this.open.values()]
		const r = token === undefined ? all.at(-1) : all.find((o) => o.token === token)
		r?.event(m)
	}
	ask(message, modern, reply) {
		const id = `b${++this.n}`
		this.open.set(id, new Waiting(message, modern, reply))
		reply.on('close', () => {
			if (this.open.delete(id))
				this.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
		})
		this.say({ ...message, id })
	}
}

class Waiting {
	constructor(message, modern, reply) {
		this.id = message.id
		this.token = message.params?._meta?.progressToken
		this.modern = modern
		this.reply = reply
	}
	event(m) {
		if (!this.reply.headersSent)
			this.reply.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
		this.reply.write(`event: message\ndata: ${JSON.stringify(m)}\n\n`)
	}
	end(m) {
		const status = !this.modern || !m.error ? 200 : m.error.code === -32601 ? 404 : 400
		if (!this.reply.headersSent) {
			send(this.reply, status, m)
			return
		}
		this.event(m)
		this.reply.end()
	}
}

function send(reply, status, message, headers = {}) {
	reply.writeHead(status, { 'content-type': 'application/json', ...headers })
	reply.end(message === undefined ? '' : JSON.stringify(message))
}

const sessions = new Map()
let shared

// What the headers of a modern request repeat has to be what it says.
function headersDiffer(q, m) {
	const say = (name) => q.headers[name]
	return say('mcp-protocol-version') !== m.params?._meta?.[MODERN] || (say('mcp-method') !== undefined && say('mcp-method') !== m.method)
}

function serve(q, reply, m) {
	const wants = m.id !== undefined && m.method !== undefined
	const modern = m.params?._meta?.[MODERN] !== undefined || (q.headers['mcp-protocol-version'] === '2026-07-28' && m.method !== 'initialize')
	let server
	if (modern) {
		if (wants && m.params?._meta?.[MODERN] !== undefined && headersDiffer(q, m)) {
			send(reply, 400, { jsonrpc: '2.0', id: m.id, error: { code: -32020, message: 'the headers say something else' } })
			return
		}
		server = shared ??= new Server()
	} else if (m.method === 'initialize') {
		const id = randomUUID()
		server = new Server()
		sessions.set(id, server)
		reply.setHeader('mcp-session-id', id)
	} else {
		server = sessions.get(q.headers['mcp-session-id'])
	}
	if (!server)
		send(reply, 404, { jsonrpc: '2.0', id: m.id ?? null, error: { code: -32600, message: 'there is no such session' } })
	else if (wants)
		server.ask(m, modern, reply)
	else {
		server.say(m)
		send(reply, 202)
	}
}

const http = createServer((q, reply) => {
	const name = (text) => new URL(text).hostname
	const local = (text) => ['localhost', '127.0.0.1'].includes(text)
	let body = ''
	if (!local(name(`http://${q.headers.host}`)) || (q.headers.origin && !local(name(q.headers.origin)))) {
		send(reply, 403)
	} else if (q.method === 'DELETE') {
		const id = q.headers['mcp-session-id']
		sessions.get(id)?.child.stdin.end()
		sessions.delete(id)
		send(reply, 200)
	} else if (q.method !== 'POST') {
		send(reply, 405)
	} else {
		q.setEncoding('utf8').on('data', (text) => (body += text)).on('end', () => {
			try {
				serve(q, reply, JSON.parse(body))
			} catch (e) {
				send(reply, 400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: String(e) } })
			}
		})
	}
})
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`))
process.stdin.resume().on('end', () => {
	for (const s of [...sessions.values(), ...(shared ? [shared] : [])])
		s.child.stdin.end()
	http.closeAllConnections()
	http.close()
})
