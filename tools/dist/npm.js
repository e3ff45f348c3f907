#!/usr/bin/env node
// Runs the ccbot of this platform, which is a package of its own.
const { spawn } = require('child_process')
const { dirname, join } = require('path')
const name = `ccbot-${process.platform}-${process.arch}`
let folder
try {
  folder = dirname(require.resolve(`${name}/package.json`))
} catch {
  console.error(`ccbot: the package ${name} is missing: npm leaves it out with --omit=optional, and there is none for other systems`)
  process.exit(1)
}
const child = spawn(join(folder, 'ccbot'), process.argv.slice(2), { stdio: 'inherit' })
process.on('SIGTERM', () => child.kill('SIGTERM'))
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {}) // the terminal sends them to both
child.on('error', (err) => { console.error(`ccbot: ${err.message}`); process.exit(1) })
child.on('exit', (code) => process.exit(code ?? 1))
