// Weir reads and writes the same DAG-CBOR, and computes the same CIDs, as the packages that are installed now.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { make } from './core_vectors.mjs'

const { made_by: madeBy, accepted, refused } = await make()
const input = [...accepted, ...refused].map((item) => item.octets + '\n').join('')
const peer = spawnSync(join(process.env.WEIR_BIN, 'core_vectors_peer'), { input, encoding: 'utf8' })
assert.equal(peer.status, 0, peer.stderr)
const answers = peer.stdout.split('\n').slice(0, -1)
assert.equal(answers.length, accepted.length + refused.length)
for (const { name, octets, sha256, raw, dag_cbor: dagCbor } of accepted) {
  assert.equal(answers.shift(), `${octets} ${sha256} ${raw} ${dagCbor}`, name)
}
for (const { name } of refused) {
  assert.match(answers.shift(), /^refused DAG-CBOR at offset \d+: /, name)
}
console.log(`${accepted.length} items and ${refused.length} refusals agree with ${madeBy}`)
