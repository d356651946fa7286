// The public JavaScript client (npm rsocket-core, rsocket-tcp-client) asks a server made with Weir.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {after, before, test} from 'node:test';
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const {RSocketClient, BufferEncoders, encodeRoute, MESSAGE_RSOCKET_ROUTING} = require('rsocket-core');
const RSocketTcpClient = require('rsocket-tcp-client').default;
const {Flowable, Single} = require('rsocket-flowable');

let peer;
let address;

before(async () => {
  peer = spawn(`${process.env.WEIR_BIN}/rsocket_routes_peer`, ['serve'], {stdio: ['pipe', 'pipe', 'inherit']});
  const [line] = await new Promise((resolve, reject) => {
    createInterface({input: peer.stdout}).once('line', (text) => resolve([text]));
    peer.once('error', reject);
    peer.once('exit', (code) => reject(new Error(`rsocket_routes_peer ended with ${code}`)));
  });
  const [, host, port] = /^listening (.*):(\d+)$/.exec(line);
  address = {host, port: Number(port)};
});

after(() => peer.stdin.end());

async function connect({responder, keepAlive = 60_000, lifetime = 180_000} = {}) {
  const transport = new RSocketTcpClient(address, BufferEncoders);
  const client = new RSocketClient({
    setup: {
      keepAlive,
      lifetime,
      dataMimeType: 'application/octet-stream',
      metadataMimeType: MESSAGE_RSOCKET_ROUTING.string,
    },
    transport,
    responder,
  });
  const socket = await new Promise((onComplete, onError) => client.connect().subscribe({onComplete, onError}));
  return {client, socket, transport};
}

const request = (route, data = '') => ({data: Buffer.from(data), metadata: encodeRoute(route)});

const response = (socket, payload) =>
  new Promise((onComplete, onError) => socket.requestResponse(payload).subscribe({onComplete, onError}));

/// Collects a stream; `asks` are the numbers it requests: the next one each time the one before has come in full.
function stream(socket, payload, asks, {cancelAfter = Infinity} = {}) {
  return new Promise((resolve) => {
    const items = [];
    let subscription;
    let due = 0;
    let turn = 0;
    const ask = () => {
      const n = asks[Math.min(turn++, asks.length - 1)];
      due += n;
      subscription.request(n);
    };
    socket.requestStream(payload).subscribe({
      onSubscribe(s) {
        subscription = s;
        ask();
      },
      onNext(item) {
        items.push(item.data.toString());
        assert.ok(items.length <= due, 'no more than was asked for');
        if (items.length === cancelAfter) {
          subscription.cancel();
          resolve({items, cancelled: true});
        } else if (items.length === due) {
          ask();
        }
      },
      onComplete: () => resolve({items}),
      onError: (error) => resolve({items, error}),
    });
  });
}

const numbersBelow = (end) => Array.from({length: end}, (_, i) => String(i));

test('a response has the data and the metadata of the request', async () => {
  const {client, socket} = await connect();
  const answer = await response(socket, request('echo', 'hello'));
  assert.equal(answer.data.toString(), 'hello');
  assert.deepEqual(answer.metadata, encodeRoute('echo'));
  client.close();
});

for (const asks of [[1], [3], [64], [1, 3, 64], [0x7fffffff]]) {
  test(`a stream asked for by ${asks.join(', ')} is whole and in order`, async () => {
    const {client, socket} = await connect();
    const {items, error} = await stream(socket, request('range', '500'), asks);
    assert.equal(error, undefined);
    assert.deepEqual(items, numbersBelow(500));
    client.close();
  });
}

test('a stream without items completes', async () => {
  const {client, socket} = await connect();
  assert.deepEqual(await stream(socket, request('range', '0'), [1]), {items: []});
  client.close();
});

test('cancelling destroys the flow at the server', async () => {
  const {client, socket} = await connect();
  const {items, cancelled} = await stream(socket, request('endless'), [5], {cancelAfter: 12});
  assert.ok(cancelled);
  assert.deepEqual(items, numbersBelow(12));
  // The CANCEL is on its way before this request, on the same connection.
  assert.equal((await response(socket, request('destroyed'))).data.toString(), '1');
  client.close();
});

test('an error comes after the items, with its code in its text', async () => {
  const {client, socket} = await connect();
  const {items, error} = await stream(socket, request('broken'), [10]);
  assert.deepEqual(items, ['good']);
  assert.equal(error.source.code, 0x201);
  assert.equal(error.source.message, 'corrupt: the rest is broken');
  await assert.rejects(response(socket, request('nowhere')), /not_found: no route nowhere/);
  client.close();
});

test('a response of many fragments is put together', async () => {
  const {client, socket} = await connect();
  const size = 3_000_000;
  const {data} = await response(socket, request('pattern', String(size)));
  assert.equal(data.length, size);
  assert.ok(data.every((octet, i) => octet === i % 251));
  client.close();
});

test('a request as large as one frame allows comes back', async () => {
  const {client, socket} = await connect();
  const data = Buffer.alloc(2_000_000, 'w');
  const answer = await response(socket, {data, metadata: encodeRoute('echo')});
  assert.ok(answer.data.equals(data));
  client.close();
});

test('every keepalive of the client is answered', async () => {
  const {client, socket, transport} = await connect({keepAlive: 20, lifetime: 10_000});
  let answered = 0;
  await new Promise((resolve) => {
    transport.receive().subscribe({
      onSubscribe: (s) => s.request(0x7fffffff),
      onNext: (frame) => frame.type === 0x03 && ++answered === 20 && resolve(),
    });
  });
  assert.equal((await response(socket, request('echo', 'alive'))).data.toString(), 'alive');
  client.close();
});

test('the server asks back on the same connection', async () => {
  const responder = {
    requestStream: ({data}) => new Flowable((subscriber) => {
      let next = 0;
      const end = Number(data.toString());
      subscriber.onSubscribe({
        cancel() {},
        request(n) {
          for (; n > 0 && next < end; --n) subscriber.onNext({data: Buffer.from(String(next++)), metadata: null});
          if (next === end) {
            ++next;
            subscriber.onComplete();
          }
        },
      });
    }),
    requestResponse: () => Single.error(new Error('no responses here')),
    fireAndForget() {},
    metadataPush: () => Single.of(),
  };
  const {client, socket} = await connect({responder});
  const {items, error} = await stream(socket, request('mirror', '100'), [3]);
  assert.equal(error, undefined);
  assert.deepEqual(items, numbersBelow(100));
  client.close();
});

test('a setup with leases is refused as unsupported', async () => {
  const transport = new RSocketTcpClient(address, BufferEncoders);
  const refused = new Promise((resolve) => {
    transport.connectionStatus().subscribe({
      onSubscribe: (s) => s.request(0x7fffffff),
      onNext: (status) => {
        if (status.kind === 'CONNECTED') {
          transport.receive().subscribe({onSubscribe: (s) => s.request(0x7fffffff), onNext: resolve});
          transport.sendOne({
            type: 0x01, flags: 0x40, streamId: 0, majorVersion: 1, minorVersion: 0, keepAlive: 1000, lifetime: 2000,
            metadataMimeType: 'a/b', dataMimeType: 'c/d', data: null, metadata: null,
          });
        }
      },
    });
  });
  transport.connect();
  const frame = await refused;
  assert.equal(frame.type, 0x0b);
  assert.equal(frame.code, 0x02);
  transport.close();
});
