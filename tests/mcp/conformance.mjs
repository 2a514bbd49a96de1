// conformance.mjs REVISION DIR: verdicts from what the conformance suite wrote into DIR, each failed check held against the file not-offered.
import { readdirSync, readFileSync } from 'node:fs'

const [revision, dir] = process.argv.slice(2)
const glob = (text) => new RegExp(`^${text.replace(/[.+^${}()|\\]/g, '\\$&').replaceAll('*', '.*')}$`)
const lines = readFileSync(new URL('not-offered', import.meta.url), 'utf8').split('\n').filter((l) => l && !l.startsWith('#'))
const excuses = lines.map((line) => {
	const [, scenario, check, reason] = /^(\S+) (\S+) : (.+)$/.exec(line)
	return { line, scenario: glob(scenario), check: glob(check), reason, seen: false, used: false }
})

let failed = 0, scenarios = 0, checks = 0
for (const name of readdirSync(dir).sort()) {
	const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[-\dZ]+$/, '')
	const found = JSON.parse(readFileSync(`${dir}/${name}/checks.json`, 'utf8'))
	const mine = excuses.filter((x) => x.scenario.test(scenario))
	const wrong = [], excused = new Set()
	scenarios++
	for (const x of mine)
		x.seen = true
	for (const c of found) {
		checks++
		if (c.status !== 'FAILURE')
			continue
		const x = c.id === 'wire-schema-valid' ? undefined : mine.find((m) => m.check.test(c.id))
		if (x) {
			x.used = true
			excused.add(x.reason)
		} else {
			wrong.push(`${c.id}: ${String(c.errorMessage ?? c.description).split('\n')[0]}`)
		}
	}
	for (const w of wrong)
		console.log(`    ${w}`)
	if (wrong.length)
		console.log(`not ok mcp ${revision}-${scenario}: ${wrong[0]}`)
	else if (excused.size)
		console.log(`skip mcp ${revision}-${scenario}: not offered: ${[...excused].join('; ')}`)
	else
		console.log(`ok mcp ${revision}-${scenario}`)
	failed ||= wrong.length
}
for (const x of excuses)
	if (x.seen && !x.used) {
		console.log(`not ok mcp ${revision}-not-offered: this line excuses nothing: ${x.line}`)
		failed = 1
	}
if (scenarios < 30) {
	console.log(`not ok mcp ${revision}-all: ${scenarios} scenarios ran`)
	failed = 1
}
console.log(`# ${revision}: ${scenarios} scenarios, ${checks} checks`)
process.exit(failed ? 1 : 0)
