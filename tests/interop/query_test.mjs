// A public RSocket client reads a query from a running node at its own pace, with its own request(n), and cancels midway.
import assert from 'node:assert/strict';
import rsocketCore from 'rsocket-core';
import { connect, withNode } from './weir_node.mjs';

const { encodeRoute } = rsocketCore;
const packages = 1000;

// Asks for 1, 3, 64, 1, 3, … rows, each time when the last have come; cancels after `enough`. Gives the rows, and how
// the stream ended: 'complete', 'cancelled', or the error.
function rows(socket, query, enough = Infinity) {
  return new Promise((resolve) => {
    const got = [];
    const asks = [1, 3, 64];
    let due = 0, turn = 0, subscription;
    const ask = () => {
      const n = asks[turn++ % asks.length];
      due += n;
      subscription.request(n);
    };
    socket.requestStream({ data: Buffer.from(query), metadata: encodeRoute('weir.query') }).subscribe({
      onSubscribe: (s) => { subscription = s; ask(); },
      onNext: (payload) => {
        got.push(JSON.parse(payload.data.toString()));
        assert(got.length <= due, `${got.length} rows came where ${due} were asked for`);
        if (got.length === enough) {
          subscription.cancel();
          resolve({ got, end: 'cancelled' });
        } else if (got.length === due) {
          ask();
        }
      },
      onComplete: () => resolve({ got, end: 'complete' }),
      onError: (error) => resolve({ got, end: error }),
    });
  });
}

async function check(address) {
  const socket = await connect(address, 'application/json');

  const all = await rows(socket, 'SELECT * FROM debian.*');
  assert.equal(all.end, 'complete');
  assert.deepEqual(all.got.map((row) => row.refs[0]),
                   Array.from({ length: packages }, (_, i) => `deb:thing${i}/1.${i}/all`));
  assert.deepEqual(all.got.map((row) => row.counter), Array.from({ length: packages }, (_, i) => i + 1));

  const some = await rows(socket, 'SELECT * FROM debian.*', 100);
  assert.equal(some.end, 'cancelled');
  assert.deepEqual(some.got, all.got.slice(0, 100));

  // The connection is good for more after a cancelled stream, and a mistake in a query hurts only that stream.
  const wrong = await rows(socket, 'SELECT * FORM debian.*');
  assert.match(wrong.end.source.message, /invalid_argument[^]*FORM[^]*\^/);
  const one = await rows(socket, "SELECT * FROM debian.* WHERE ref = 'deb:thing7/1.7/all'");
  assert.equal(one.end, 'complete');
  assert.deepEqual(one.got, [all.got[7]]);
}

await withNode(packages, check);
console.log(`${packages} rows read with request(1), request(3), request(64), …; 100 rows and a cancel`);
process.exit(0);  // the client keeps its connection open
