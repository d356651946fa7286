// What the tests that talk to a node share: a node that has published made-up packages, and an npm client for it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import rsocketCore from 'rsocket-core';
import rsocketTcpClient from 'rsocket-tcp-client';

const { BufferEncoders, RSocketClient } = rsocketCore;
const RSocketTcpClient = rsocketTcpClient.default;
const weir = `${process.env.WEIR_BIN}/weir`;

// Runs a test against a node that holds `packages` packages in debian.packages; the node must end well afterwards.
export async function withNode(packages, test) {
  const scratch = mkdtempSync(join(tmpdir(), 'weir-interop-'));
  const data = join(scratch, 'data');
  writeFileSync(join(scratch, 'Packages'), Array.from({ length: packages }, (_, i) =>
    `Package: thing${i}\nVersion: 1.${i}\nArchitecture: all\nSection: misc\nDescription: thing number ${i}\n`).join('\n'));
  execFileSync(weir, ['publish', '--data', data, '--format', 'deb822', 'debian.packages', join(scratch, 'Packages')]);
  const node = spawn(weir, ['node', 'run', '--data', data, '--listen', '127.0.0.1:0'], { stdio: 'inherit' });
  try {
    const file = join(data, 'node.json');
    while (!existsSync(file)) {
      assert.equal(node.exitCode, null, 'the node ended before it was ready');
      await sleep(10);
    }
    await test(JSON.parse(readFileSync(file, 'utf8')).listen);
    node.kill('SIGTERM');
    const [status] = await once(node, 'exit');
    assert.equal(status, 0);
  } finally {
    node.kill('SIGKILL');
    rmSync(scratch, { recursive: true });
  }
}

// An RSocket connection of the npm client.
export function connect(address, dataMimeType) {
  const colon = address.lastIndexOf(':');
  const client = new RSocketClient({
    setup: { keepAlive: 10000, lifetime: 60000, dataMimeType, metadataMimeType: 'message/x.rsocket.routing.v0' },
    transport: new RSocketTcpClient({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)) },
                                    BufferEncoders),
  });
  return new Promise((resolve, reject) =>
    client.connect().subscribe({ onComplete: resolve, onError: reject, onSubscribe: () => {} }));
}
