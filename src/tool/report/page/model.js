// SPDX-License-Identifier: Apache-2.0
// What the page shows, decoded: src/tool/report/page_data.cpp is the writer.
const end = Math.max(data.end_ns, 1);
const bins = data.bins.count;
const cells = bytesOf(data.bins.cells);  // by row and bin: work, runtime, idle in 255ths, handler + 1 (255: main)
const handlers = data.handlers.map(([name, runs, ns, longest, ofRuntime]) => ({
  name: name.replace(/^&/, "").replace(/\{anonymous\}::/g, ""), runs, ns, longest, ofRuntime}));
const tracksARank = Math.max(1, ...data.rows.filter((row) => row[2] === 0).map((row) => row[1] + 1));
const rows = data.rows.map(([rank, track, role, lastRank, tracks, work, main, runtime, idle, runs, steals]) => {
  let label = data.ranks === 1 ? "worker " + track : "rank " + rank + (tracksARank > 1 ? " · " + track : "");
  if (role === 1) label = data.ranks === 1 ? "main" : "rank " + rank + " · main";
  if (role === 2) label = data.ranks === 1 ? "poll loop" : "rank " + rank + " · poll loop";
  if (tracks > 1) label = rank === lastRank ? `rank ${rank}, ${tracks} tracks` : `ranks ${rank} to ${lastRank}`;
  return {rank, track, role, label, work, main, runtime, idle, runs, steals, tracks};
});
const workers = rows.filter((row) => row.role === 0);

/// Spans row after row, three numbers each: distance, length, code. The distance is from the end of the span before, or
/// from its begin where spans nest.
function spansOf(packed, nested) {
  const bytes = bytesOf(packed.bytes);
  let numbers = 0;
  for (let i = 0; i < bytes.length; i++) numbers += bytes[i] < 128 ? 1 : 0;
  const count = numbers / 3;
  const begin = new Float64Array(count), length = new Float64Array(count), code = new Uint16Array(count);
  const first = [0];
  let at = 0, index = 0;
  const number = () => {
    let value = 0, scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  for (const stop of packed.ends) {
    let time = 0;
    while (at < stop) {
      begin[index] = time + number();
      length[index] = number();
      time = begin[index] + (nested ? 0 : length[index]);
      code[index++] = number();
    }
    first.push(index);
  }
  return {begin, length, code, first, count};
}

// Single pieces of time. Codes: 0 idle, 1 runtime, 2 main, then the handlers.
const spans = {...spansOf(data.spans, false), least: data.spans.least_ns};
// Phases, by their own time; an outer span stands before those inside it. Codes: the ids of phases.
const phases = data.phases.list.map(([id, name, count, own, whole, longest, mean, most, mostRank]) => ({
  id, name, count, own, whole, longest, mean, most, mostRank}));
const phaseSpans = spansOf(data.phases, true);
const phaseOfId = new Map(phases.map((phase, index) => [phase.id, index]));

/// The first span of a row that ends after `time`.
function spanAt(row, time) {
  let low = spans.first[row], high = spans.first[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans.begin[middle] + spans.length[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

function passages({list}) {
  const all = [];
  for (let i = 0; i < list.length; i += 4) {
    all.push({begin: list[i], end: list[i] + list[i + 1], from: list[i + 2], to: list[i + 3]});
  }
  return all;
}
const migrations = passages(data.migrations), steals = passages(data.steals), traced = passages(data.traced);

const activity = {idle: [228, 232, 238], runtime: [227, 154, 43], main: [22, 128, 138], work: [61, 125, 216]};
const palette = [[61, 125, 216], [70, 160, 92], [197, 84, 117], [124, 92, 191], [38, 160, 165], [199, 120, 62],
  [120, 144, 52], [88, 110, 170], [176, 92, 168], [84, 130, 120], [158, 108, 84], [112, 122, 138]];
/// Colours of what has had a handler's number; the runtime's own share one.
const handlerColour = handlers.map((h, i) => h.ofRuntime ? activity.runtime : palette[Math.min(i, palette.length - 1)]);
const phaseColour = (index) => palette[(index + 3) % palette.length];
