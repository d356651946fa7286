// DAG-CBOR items, CIDs and digests as the public packages @ipld/dag-cbor and multiformats make them.
//
//   node core_vectors.mjs > core/vectors.json    (the golden file in tests/golden, with the packages installed)
//
// accepted: items those packages write, with the raw and the dag-cbor CID of their octets.
// refused:  octets that @ipld/dag-cbor refuses to read, each for one rule. It is laxer than Weir in places: it reads
//           "undefined" as null.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as dagCbor from '@ipld/dag-cbor'
import * as raw from 'multiformats/codecs/raw'
import { CID } from 'multiformats/cid'
import { sha256, sha512 } from 'multiformats/hashes/sha2'
import { identity } from 'multiformats/hashes/identity'

const hex = (octets) => Buffer.from(octets).toString('hex')
const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version

async function values () {
  const text = new TextEncoder()
  const one = CID.create(1, raw.code, await sha256.digest(text.encode('one')))
  const two = CID.create(1, dagCbor.code, await sha256.digest(text.encode('two')))
  const deep = (levels) => levels === 0 ? 7 : levels % 2 ? [deep(levels - 1)] : { d: deep(levels - 1) }
  return {
    zero: 0, 'one octet': 24, 'two octets': 256, 'four octets': 65536, 'eight octets': 2 ** 40,
    'largest exact': Number.MAX_SAFE_INTEGER, 'largest of 64 bits': 2n ** 64n - 1n,
    'minus one': -1, 'minus two octets': -257, 'least of 64 bits with a sign': -(2n ** 63n), 'least of all': -(2n ** 64n),
    half: 0.5, tiny: Number.MIN_VALUE, huge: Number.MAX_VALUE, 'a third': 1 / 3,
    yes: true, no: false, nothing: null,
    'empty text': '', 'plain text': 'merge', 'text of four lengths': 'a\u00fc\u6c34\u{10151}', 'long text': 'x'.repeat(300),
    'no octets': new Uint8Array(0), octets: Uint8Array.from({ length: 256 }, (_, i) => i),
    'empty array': [], 'empty map': {}, 'array of 25': Array.from({ length: 25 }, (_, i) => i),
    'keys in another order': { bbb: 1, aa: 2, c: 3, '': 4, ab: 5, '\u00fc': 6, zz: 7, B: 8 },
    'more keys than fit one octet': Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key ${i}`, i])),
    'sixty levels': deep(60),
    'a link': one, links: { raw: one, node: [two, two] },
    'links of other kinds': [
      CID.createV0(await sha256.digest(text.encode('v0'))), CID.create(1, 0x70, await sha256.digest(text.encode('pb'))),
      CID.create(1, raw.code, await sha512.digest(text.encode('sha2-512'))),
      CID.create(1, raw.code, identity.digest(text.encode('identity')))
    ],
    'like a statement': {
      publisher: new Uint8Array(32).fill(9), namespace: 'images.dpla', object: one, refs: ['dpla:1'], tags: ['cc0'],
      deps: [two], timestamp: 1700000000
    }
  }
}

const refused = {
  nothing: '', 'two items': '0000', 'cut array': '8201', 'cut text': '6261', 'cut head': '19ff',
  'length not shortest': '1817', 'number not shortest': '1b0000000000000001', 'text length not shortest': '780161',
  'indefinite octets': '5f4100ff', 'indefinite text': '7f6161ff', 'indefinite array': '9f01ff', 'indefinite map': 'bf616101ff',
  break: 'ff', 'simple value': 'f820',
  nan: 'fb7ff8000000000000', infinity: 'fb7ff0000000000000', 'minus infinity': 'fbfff0000000000000',
  'key of a number': 'a10001', 'key repeated': 'a2616101616102',
  'tag of a date': 'c11a514b67b0', 'tag of a bignum': 'c249010000000000000000', 'link without zero': 'd82a4401551220', 'link of text': 'd82a6100'
}

/// Makes all vectors anew.
export async function make () {
  const accepted = []
  for (const [name, value] of Object.entries(await values())) {
    const octets = dagCbor.encode(value)
    const hash = await sha256.digest(octets)
    accepted.push({
      name, octets: hex(octets), sha256: hex(hash.digest),
      raw: CID.create(1, raw.code, hash).toString(), dag_cbor: CID.create(1, dagCbor.code, hash).toString()
    })
  }
  for (const [name, octets] of Object.entries(refused)) {
    let read = true
    try { dagCbor.decode(Buffer.from(octets, 'hex')) } catch { read = false }
    if (read) throw new Error(`@ipld/dag-cbor reads what is listed as refused: ${name}`)
  }
  return {
    made_by: `@ipld/dag-cbor ${version('@ipld/dag-cbor')}, multiformats ${version('multiformats')}`,
    accepted,
    refused: Object.entries(refused).map(([name, octets]) => ({ name, octets }))
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(JSON.stringify(await make(), null, 1))
}
