// A store's blocks mean the same to public tools: a peer written with npm packages alone (RSocket, DAG-CBOR, CAR,
// multiformats and Node's Ed25519) lists and fetches what a node has published, and checks every hash, every signature
// and every encoding with its own code.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import * as dagCbor from '@ipld/dag-cbor';
import { CarReader } from '@ipld/car';
import { CID } from 'multiformats/cid';
import * as digest from 'multiformats/hashes/digest';
import { sha256 } from 'multiformats/hashes/sha2';
import rsocketCore from 'rsocket-core';
import { connect, withNode } from './weir_node.mjs';

const { encodeRoute } = rsocketCore;
const packages = 40;

const dagCborCid = (hash) => CID.createV1(dagCbor.code, digest.create(sha256.code, hash));
const chunksOf = (octets, size) =>
  Array.from({ length: octets.length / size }, (_, i) => octets.subarray(i * size, (i + 1) * size));

// Every payload of a stream, a few at a time.
function stream(socket, route, request) {
  return new Promise((resolve, reject) => {
    const payloads = [];
    let subscription;
    socket.requestStream({ data: Buffer.from(dagCbor.encode(request)), metadata: encodeRoute(route) }).subscribe({
      onSubscribe: (s) => { subscription = s; s.request(2); },
      onNext: (payload) => {
        payloads.push(payload.data);
        if (payloads.length % 2 === 0) subscription.request(2);
      },
      onComplete: () => resolve(payloads),
      onError: reject,
    });
  });
}

async function check(address) {
  const socket = await connect(address, 'application/cbor');

  const listings = (await stream(socket, 'weir.list', { after: 0, query: 'SELECT * FROM debian.*' }))
    .map((payload) => dagCbor.decode(payload));
  const groups = listings.flatMap((listing) => listing.groups);
  const bundleIds = groups.map(([bundle]) => dagCborCid(bundle));
  const statementIds = groups.flatMap(([, statements]) => chunksOf(statements, 32).map(dagCborCid));
  const objectIds = groups.flatMap(([, , objects]) => chunksOf(objects, 36).map((octets) => CID.decode(octets)));
  assert.equal(statementIds.length, packages);
  assert.equal(objectIds.length, packages);

  const sections = await stream(socket, 'weir.fetch', {
    bundles: Buffer.concat(groups.map(([bundle]) => bundle)),
    objects: Buffer.concat(groups.map(([, , objects]) => objects)),
    statements: Buffer.concat(groups.map(([, statements]) => statements)),
  });

  // With a header in front, what a fetch gives is a CARv1 file.
  const header = dagCbor.encode({ version: 1, roots: bundleIds });
  const varint = [];
  for (let rest = header.length; ; rest >>>= 7) {
    varint.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  const car = await CarReader.fromBytes(Buffer.concat([Buffer.from(varint), header, ...sections]));
  const blocks = new Map();
  for await (const { cid, bytes } of car.blocks()) {
    assert.deepEqual((await sha256.digest(bytes)).digest, cid.multihash.digest, `${cid} is not the hash of its octets`);
    blocks.set(cid.toString(), bytes);
  }
  assert.equal(blocks.size, bundleIds.length + 2 * packages);

  const attested = new Set();
  for (const id of bundleIds) {
    const bundle = dagCbor.decode(blocks.get(id.toString()));
    const key = createPublicKey({ format: 'jwk', key: {
      kty: 'OKP', crv: 'Ed25519', x: Buffer.from(bundle.publisher).toString('base64url') } });
    const { signature, ...signed } = bundle;
    const message = Buffer.concat([Buffer.from('weir-bundle-v1\0'), dagCbor.encode(signed)]);
    assert(verify(null, message, key, signature), `the signature of bundle ${id} does not verify`);
    for (const statement of bundle.statements) attested.add(statement.toString());
  }

  const refs = new Set();
  for (const id of statementIds) {
    assert(attested.has(id.toString()), `no bundle attests ${id}`);
    const octets = blocks.get(id.toString());
    const statement = dagCbor.decode(octets);
    // Deterministic: the one encoding, whoever encodes.
    assert.deepEqual(Buffer.from(dagCbor.encode(statement)), Buffer.from(octets));
    assert.equal(statement.namespace, 'debian.packages');
    assert(blocks.has(statement.object.toString()), `the object of ${id} is missing`);
    for (const ref of statement.refs) refs.add(ref);
  }
  assert.equal(refs.size, packages);
}

await withNode(packages, check);
console.log(`${packages} statements fetched and verified`);
process.exit(0);  // the client keeps its connection open
