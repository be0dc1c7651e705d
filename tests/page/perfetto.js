// Perfetto's own trace processor, WebAssembly in a worker of its user interface: loads a trace and
// asks it in SQL. Its messages are protocol buffers (protos/perfetto/trace_processor of Perfetto).
const [trace, queries] = arguments;

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const number = (field, value) => [...varint(field * 8), ...varint(value)];
const bytes = (field, value) => joined([[...varint(field * 8 + 2), ...varint(value.length)], value]);

// A message's fields as [number, value]: of the kinds that answers have.
function fieldsOf(message) {
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  const found = [];
  let at = 0;
  const next = () => {
    let value = 0;
    for (let weight = 1; ; weight *= 128) {
      const byte = message[at++];
      value += (byte & 127) * weight;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const key = next();
    const field = Math.floor(key / 8);
    if (key % 8 === 0) {
      found.push([field, next()]);
    } else {
      const size = key % 8 === 1 ? 8 : next();
      found.push([field, key % 8 === 1 ? view.getFloat64(at, true) : message.subarray(at, at + size)]);
      at += size;
    }
  }
  return found;
}

// The numbers of a packed field, or its only one.
function numbers(value) {
  if (typeof value === "number") return [value];
  const found = [];
  let number = 0;
  let weight = 1;
  for (const byte of value) {
    number += (byte & 127) * weight;
    weight = byte < 128 ? 1 : weight * 128;
    if (byte < 128) {
      found.push(number);
      number = 0;
    }
  }
  return found;
}

const text = (value) => new TextDecoder().decode(value);

// Rows out of the answers to one query; a cell is null, a whole number or words.
function rowsOf(results) {
  const cells = [];
  let columns = 0;
  for (const [field, value] of results.flatMap(fieldsOf)) {
    if (field === 1) columns += 1;
    if (field === 2) throw new Error(text(value));
    if (field !== 3) continue;
    const batch = fieldsOf(value);
    const of = (wanted) => batch.filter(([number]) => number === wanted).map(([, part]) => part);
    const whole = of(2).flatMap(numbers);
    const words = of(5).flatMap((part) => text(part).split("\0"));
    for (const kind of of(1).flatMap(numbers)) {
      cells.push(kind === 2 ? whole.shift() : kind === 4 ? words.shift() : null);
    }
  }
  const rows = [];
  for (let at = 0; at < cells.length; at += columns) rows.push(cells.slice(at, at + columns));
  return rows;
}

const isLast = (result) =>
  fieldsOf(result).every(([field, value]) => field !== 3 || fieldsOf(value).some(([number]) => number === 6));

async function asked() {
  const worker = new Worker("engine_bundle.js");
  const channel = new MessageChannel();
  worker.postMessage(channel.port2, [channel.port2]);
  let sequence = 0;
  let take = () => {};
  channel.port1.onmessage = ({ data }) => {
    for (const [, message] of fieldsOf(data)) take(fieldsOf(message));
  };
  const call = (kind, argument = []) =>
    new Promise((resolve, reject) => {
      const results = [];
      take = (fields) => {
        const [, failure] = fields.find(([field]) => field === 5) ?? [];
        if (failure) reject(new Error(text(failure)));
        const [, result] = fields.find(([field]) => field === 203) ?? [];
        if (result) results.push(result);
        if (!result || isLast(result)) resolve(results);
      };
      const message = joined([number(1, sequence++), number(2, kind), argument]);
      channel.port1.postMessage(bytes(1, message));
    });
  await call(1, bytes(101, new TextEncoder().encode(trace)));
  await call(2);
  const answers = [];
  for (const query of queries) answers.push(rowsOf(await call(3, bytes(103, bytes(1, new TextEncoder().encode(query))))));
  worker.terminate();
  return answers;
}

return asked();
