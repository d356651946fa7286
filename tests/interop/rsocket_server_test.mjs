// Weir's requester asks the public JavaScript server (npm rsocket-core, rsocket-tcp-server).
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createServer} from 'node:net';
import {createRequire} from 'node:module';
import {test} from 'node:test';

const require = createRequire(import.meta.url);
const {RSocketServer, BufferEncoders, decodeRoutes} = require('rsocket-core');
const RSocketTcpServer = require('rsocket-tcp-server').default;
const {Flowable, Single} = require('rsocket-flowable');

let cancelled = 0;
const credits = [];

function numbers(end) {
  return new Flowable((subscriber) => {
    let next = 0;
    subscriber.onSubscribe({
      cancel: () => ++cancelled,
      request(n) {
        credits.push(n);
        for (; n > 0 && next < end; --n) subscriber.onNext({data: Buffer.from(String(next++)), metadata: null});
        if (next === end) {
          ++next;
          subscriber.onComplete();
        }
      },
    });
  });
}

const responder = {
  requestResponse({data, metadata}) {
    const [route] = [...decodeRoutes(metadata)];
    if (route === 'echo') return Single.of({data, metadata});
    if (route === 'pattern') return Single.of({data: Buffer.alloc(Number(data.toString()), 'p'), metadata: null});
    return Single.error(new Error(`no route ${route}`));
  },
  requestStream({data, metadata}) {
    const [route] = [...decodeRoutes(metadata)];
    if (route === 'range') return numbers(Number(data.toString()));
    if (route === 'endless') return numbers(Infinity);
    return Flowable.error(new Error('the rest is broken'));
  },
  fireAndForget() {},
  metadataPush: () => Single.of(),
};

test('Weir asks a JavaScript server', async () => {
  // The library neither says when it listens nor on which port, but takes the listener from us.
  let listener;
  const server = new RSocketServer({
    getRequestHandler: () => responder,
    transport: new RSocketTcpServer(
      {
        host: '127.0.0.1',
        port: 0,
        // It writes each frame alone; without noDelay every second one waits for an acknowledgement.
        serverFactory: (onConnect) => (listener = createServer({noDelay: true}, onConnect)),
      },
      BufferEncoders),
  });
  server.start();
  if (!listener.listening) await once(listener, 'listening');
  const {port} = listener.address();
  const peer = spawn(`${process.env.WEIR_BIN}/rsocket_routes_peer`, ['ask', `127.0.0.1:${port}`], {stdio: ['ignore', 'pipe', 'inherit']});
  let said = '';
  peer.stdout.on('data', (text) => (said += text));
  const code = await new Promise((resolve) => peer.once('close', resolve));
  server.stop();
  assert.equal(code, 0);
  assert.deepEqual(said.trim().split('\n'), [
    'echo hello',
    'range 1000 499500 done',
    'endless 10 done',
    `broken 0 refused: the rest is broken (answered 127.0.0.1:${port})`,
    'pattern 1000000',
  ]);
  assert.equal(credits[0], 7, 'the window is the first credit');
  assert.ok(credits.every((n) => n <= 7));
  assert.equal(cancelled, 1);
});
