// SPDX-License-Identifier: Apache-2.0
// The timeline: every worker's time, drawn from cells when much is seen and from single spans when little is.
const view = {from: 0, to: end, top: 0, bottom: rows.length, byHandler: true, phases: phases.length > 0, migrations: true, steals: false, traced: true};
const gutter = 128, axis = 22;
const tracks = byId("tracks"), overview = byId("overview");

function colourOfCode(code) {
  if (code === 0) return activity.idle;
  if (code === 1) return activity.runtime;
  if (code === 2) return activity.main;
  if (handlers[code - 3].ofRuntime) return activity.runtime;
  return view.byHandler ? handlerColour[code - 3] : activity.work;
}

function colourOfCell(tag) {
  if (tag === 255) return activity.main;
  return view.byHandler && tag > 0 && tag <= handlers.length ? handlerColour[tag - 1] : activity.work;
}

/// The mean colour of a row between two instants; what is nothing stays white.
function mixed(row, from, to, out) {
  const first = Math.max(0, Math.min(bins - 1, Math.floor(from / end * bins)));
  const last = Math.max(first, Math.min(bins - 1, Math.ceil(to / end * bins) - 1));
  let r = 0, g = 0, b = 0;
  for (let bin = first; bin <= last; bin++) {
    const at = 4 * (row * bins + bin), work = cells[at], run = cells[at + 1], idle = cells[at + 2];
    const none = Math.max(0, 255 - work - run - idle), own = colourOfCell(cells[at + 3]);
    r += work * own[0] + run * activity.runtime[0] + idle * activity.idle[0] + none * 255;
    g += work * own[1] + run * activity.runtime[1] + idle * activity.idle[1] + none * 255;
    b += work * own[2] + run * activity.runtime[2] + idle * activity.idle[2] + none * 255;
  }
  const scale = 1 / (255 * (last - first + 1));
  out[0] = r * scale, out[1] = g * scale, out[2] = b * scale;
}

function drawCells(paper, rowHeight, plot) {
  const image = paper.context.createImageData(Math.max(1, Math.round(plot.width * paper.ratio)),
                                              Math.max(1, Math.round(plot.height * paper.ratio)));
  const pixels = new Uint32Array(image.data.buffer), colour = [0, 0, 0];
  const line = new Uint32Array(image.width), scale = (view.to - view.from) / image.width;
  const high = rowHeight * paper.ratio, gap = high >= 5 ? Math.max(1, Math.round(high * 0.12)) : 0;
  for (let y = 0; y < image.height;) {
    const row = Math.min(rows.length - 1, Math.floor(view.top + y / high));
    const stop = Math.max(y + 1, Math.min(image.height, Math.round((row + 1 - view.top) * high)));
    for (let x = 0; x < image.width; x++) {
      mixed(row, view.from + x * scale, view.from + (x + 1) * scale, colour);
      line[x] = 0xff000000 | colour[2] << 16 | colour[1] << 8 | colour[0];
    }
    for (; y < stop; y++) {
      if (y < stop - gap) pixels.set(line, y * image.width); else pixels.fill(0xffffffff, y * image.width, (y + 1) * image.width);
    }
  }
  paper.context.putImageData(image, Math.round(plot.left * paper.ratio), Math.round(plot.top * paper.ratio));
}

/// Single spans, in rows where there is room for them. Short ones of a row that lacks them are in the cells below.
function drawSpans(paper, rowHeight, plot) {
  if (spans.count === 0 || rowHeight < 3) return;
  const context = paper.context, scale = plot.width / (view.to - view.from), gap = rowHeight >= 5 ? rowHeight * 0.12 : 0;
  for (let row = Math.floor(view.top); row < Math.min(rows.length, view.bottom); row++) {
    const first = spanAt(row, view.from), last = spanAt(row, view.to);
    if (last - first > 2 * plot.width) continue;
    const y = plot.top + (row - view.top) * rowHeight, high = rowHeight - gap;
    if (spans.least === 0) {
      context.fillStyle = "#fff";
      context.fillRect(plot.left, y, plot.width, high);
    }
    for (let i = first; i < Math.min(last + 1, spans.first[row + 1]); i++) {
      const left = Math.max(0, (spans.begin[i] - view.from) * scale);
      const right = Math.min(plot.width, (spans.begin[i] + spans.length[i] - view.from) * scale);
      if (right <= 0 || left >= plot.width) continue;
      context.fillStyle = css(colourOfCode(spans.code[i]));
      context.fillRect(plot.left + left, y, Math.max(0.4, right - left - (right - left > 4 && spans.code[i] > 1 ? 0.6 : 0)), high);
      if (right - left > 60 && high >= 12 && spans.code[i] > 2) {
        context.fillStyle = "#fff";
        context.fillText(shortName(handlers[spans.code[i] - 3].name, (right - left) / 6.6), plot.left + left + 5, y + high / 2 + 4);
      }
    }
  }
}

/// A strip at the bottom of each row: the innermost phase of the program. What has less than a pixel is drawn where no
/// other one is.
function drawPhases(paper, rowHeight, plot) {
  if (phaseSpans.count === 0 || rowHeight < 6) return;
  const context = paper.context, scale = plot.width / (view.to - view.from), high = Math.min(13, rowHeight * 0.42);
  for (let row = Math.floor(view.top); row < Math.min(rows.length, view.bottom); row++) {
    const y = plot.top + (row - view.top) * rowHeight + rowHeight * 0.88 - high;
    let drawn = -1;
    for (let i = phaseSpans.first[row]; i < phaseSpans.first[row + 1] && phaseSpans.begin[i] < view.to; i++) {
      const left = Math.max(0, (phaseSpans.begin[i] - view.from) * scale);
      const right = Math.min(plot.width, (phaseSpans.begin[i] + phaseSpans.length[i] - view.from) * scale);
      if (right <= 0 || right < drawn + 0.5) continue;
      const index = phaseOfId.get(phaseSpans.code[i]), wide = Math.max(0.8, right - left);
      if (wide < 1) drawn = right;
      context.fillStyle = "#fff";
      context.fillRect(plot.left + left, y - 1, wide, high + 1);
      context.fillStyle = css(phaseColour(index), 0.9);
      context.fillRect(plot.left + left, y, wide, high);
      if (wide < 40 || high < 10) continue;
      context.fillStyle = "#fff";
      context.fillText(shortName(phases[index].name, wide / 6.6), plot.left + left + 4, y + high - 2.5);
    }
  }
}

/// The innermost phase that a row is in at an instant; null: none.
function phaseAt(row, time) {
  let found = null;
  for (let i = phaseSpans.first[row] || 0; i < (phaseSpans.first[row + 1] || 0) && phaseSpans.begin[i] <= time; i++) {
    if (phaseSpans.begin[i] + phaseSpans.length[i] > time) found = phases[phaseOfId.get(phaseSpans.code[i])];
  }
  return found;
}

function shortName(name, letters) {
  const bare = name.replace(/\(.*$/, "").replace(/<[^<>]*>/g, "");
  const last = bare.split("::").slice(-2).join("::");
  const text = bare.length <= letters ? bare : last;
  return text.length <= letters ? text : text.slice(0, Math.max(1, letters - 1)) + "…";
}

// Migrations, steals, and messages of which the program wants lines: a line for each where few are seen. Many lines would
// bury the timeline, so beyond `most` there is a band below it that tells how many there are over time, and a strip in
// each row that has room for it. Messages are those that the program has chosen, so more of them are drawn.
const bandHeight = 40;
const kinds = [{key: "migrations", all: migrations, most: 300, count: data.migrations.count, colour: [209, 52, 91]},
  {key: "steals", all: steals, most: 300, count: data.steals.count, colour: [123, 63, 181]},
  {key: "traced", name: "messages", all: traced, most: 1000, count: data.traced.count, colour: [214, 168, 0]}];
const bands = () => kinds.filter((kind) => view[kind.key] && kind.all.length > kind.most);

/// Returns how many lines there are.
function drawPassages(paper, rowHeight, plot, {all, most, colour}) {
  const seen = all.filter((one) => one.end >= view.from && one.begin <= view.to &&
    Math.max(one.from, one.to) >= view.top && Math.min(one.from, one.to) < view.bottom);
  if (seen.length > most) {
    drawStrips(paper, rowHeight, plot, seen, colour);
    return 0;
  }
  const context = paper.context;
  const x = (time) => plot.left + (time - view.from) / (view.to - view.from) * plot.width;
  const y = (row) => plot.top + (row + 0.44 - view.top) * rowHeight;
  context.strokeStyle = css(colour, 0.8);
  context.lineWidth = 1.2;
  context.beginPath();
  for (const one of seen) {
    context.moveTo(x(one.begin), y(one.from));
    context.lineTo(x(one.end), y(one.to));
  }
  context.stroke();
  context.fillStyle = css(colour);
  for (const one of rowHeight < 5 ? [] : seen) {
    context.beginPath();
    context.arc(x(one.end), y(one.to), 2.2, 0, 7);
    context.fill();
  }
  return seen.length;
}

/// In each row, where most of them leave (at its top) and arrive (at its bottom).
function drawStrips(paper, rowHeight, plot, seen, colour) {
  if (rowHeight < 9) return;
  const places = Math.max(1, Math.floor(plot.width / 3)), high = Math.min(4, rowHeight * 0.16), context = paper.context;
  const counts = new Map();
  const count = (row, time, side) => {
    const place = Math.floor((time - view.from) / (view.to - view.from) * places);
    if (place < 0 || place >= places || row < Math.floor(view.top) || row >= view.bottom) return;
    const key = (row * places + place) * 2 + side;
    counts.set(key, (counts.get(key) || 0) + 1);
  };
  for (const one of seen) count(one.from, one.begin, 0), count(one.to, one.end, 1);
  let most = 1;
  for (const value of counts.values()) most = Math.max(most, value);
  for (const [key, value] of counts) {
    const row = Math.floor(key / 2 / places), place = Math.floor(key / 2) % places;
    const y = plot.top + (row - view.top) * rowHeight + (key % 2 ? rowHeight * 0.88 - high : 0);
    context.fillStyle = css(colour, 0.25 + 0.75 * Math.log1p(value) / Math.log1p(most));
    context.fillRect(plot.left + place / places * plot.width, y, plot.width / places + 0.3, high);
  }
}

/// How many of a kind end when, in what is seen of the time, over all rows.
function drawBand(paper, plot, {key, name = key, all, count, colour}, top) {
  const places = Math.max(1, Math.floor(plot.width / 3)), high = bandHeight - 12, context = paper.context;
  const sums = new Array(places).fill(0);
  for (const one of all) {
    const place = Math.floor((one.end - view.from) / (view.to - view.from) * places);
    if (place >= 0 && place < places) sums[place]++;
  }
  const most = Math.max(1, ...sums), width = plot.width / places;
  context.fillStyle = css(colour, 0.75);
  sums.forEach((value, place) => context.fillRect(plot.left + place * width, top + high * (1 - value / most), width, high * value / most));
  context.fillStyle = "#66717f";
  context.fillRect(plot.left, top + high, plot.width, 1);
  context.textAlign = "right";
  context.fillText(name, plot.left - 8, top + 11);
  const each = (view.to - view.from) / places, scale = count / all.length;
  context.fillText(`max ${amount(most * scale)} in ${duration(+each.toPrecision(2))}`, plot.left - 8, top + 25);
  context.textAlign = "left";
}

function drawFrame(paper, rowHeight, plot) {
  const context = paper.context;
  context.fillStyle = "#fff";
  context.fillRect(0, plot.top + plot.height, paper.width, axis);
  context.fillRect(0, 0, plot.left - 1, plot.height + axis);
  context.fillStyle = "#66717f";
  context.textAlign = "center";
  for (const at of marks(view.from, view.to, Math.max(2, plot.width / 110))) {
    const x = plot.left + (at - view.from) / (view.to - view.from) * plot.width;
    context.fillRect(x, plot.top + plot.height, 1, 5);
    context.fillText(duration(at), Math.min(x, paper.width - 24), plot.top + plot.height + 17);
  }
  context.textAlign = "right";
  const step = Math.max(1, Math.ceil(15 / rowHeight));
  let above = -14;
  for (let row = Math.ceil(view.top / step) * step; row < view.bottom; row += step) {
    const y = Math.max(10, plot.top + (row + 0.5 - view.top) * rowHeight + 3.5);
    if (y - above < 14 || y > plot.top + plot.height + 2) continue;
    context.fillText(rows[row].label, plot.left - 8, y);
    above = y;
  }
  context.textAlign = "left";
}

function plotOf(paper) { return {left: gutter, top: 0, width: paper.width - gutter, height: tracksHeight() - axis}; }
const tracksHeight = () => Math.round(Math.max(120, Math.min(620, rows.length * 26))) + axis;

function drawTracks() {
  const paper = fit(tracks, tracksHeight() + bands().length * bandHeight), plot = plotOf(paper);
  const rowHeight = plot.height / (view.bottom - view.top);
  drawCells(paper, rowHeight, plot);
  const context = paper.context;
  context.save();
  context.beginPath();
  context.rect(plot.left, plot.top, plot.width, plot.height);
  context.clip();
  drawSpans(paper, rowHeight, plot);
  if (view.phases) drawPhases(paper, rowHeight, plot);
  let drawn = 0;
  for (const kind of kinds) if (view[kind.key]) drawn += drawPassages(paper, rowHeight, plot, kind);
  context.restore();
  drawFrame(paper, rowHeight, plot);
  bands().forEach((kind, index) => drawBand(paper, plot, kind, tracksHeight() + 10 + index * bandHeight));
  document.body.dataset.drawn = `${drawn} lines, ${bands().length} bands`;
}

/// Load over time: how many of the workers work, serve the runtime, or idle; and which part of it the timeline shows.
function drawOverview() {
  const paper = fit(overview, 84), context = paper.context, width = paper.width - gutter, high = 66;
  const own = rows.map((row, index) => row.role === 0 ? index : -1).filter((index) => index >= 0);
  const columns = Math.min(bins, Math.round(width)), parts = [[], [], []];
  for (let x = 0; x < columns; x++) {
    const first = Math.floor(x * bins / columns), last = Math.max(first + 1, Math.floor((x + 1) * bins / columns));
    const sum = [0, 0, 0];
    for (const row of own) {
      for (let bin = first; bin < last; bin++) {
        for (let part = 0; part < 3; part++) sum[part] += cells[4 * (row * bins + bin) + part];
      }
    }
    for (let part = 0; part < 3; part++) parts[part].push(sum[part] / (255 * own.length * (last - first)));
  }
  const base = new Array(columns).fill(0);
  [activity.work, activity.runtime, activity.idle].forEach((colour, part) => {
    context.fillStyle = css(colour);
    for (let x = 0; x < columns; x++) {
      const from = base[x], to = Math.min(1, from + parts[part][x]);
      base[x] = to;
      context.fillRect(gutter + x * width / columns, 4 + high * (1 - to), width / columns + 0.4, high * (to - from));
    }
  });
  context.fillStyle = "#66717f";
  context.textAlign = "right";
  context.fillText("workers", gutter - 8, 13);
  context.fillText("over time", gutter - 8, 27);
  context.textAlign = "left";
  const left = gutter + view.from / end * width, right = gutter + view.to / end * width;
  context.fillStyle = "rgba(244,246,248,0.72)";
  context.fillRect(gutter, 4, left - gutter, high);
  context.fillRect(right, 4, gutter + width - right, high);
  context.strokeStyle = "#1d2733";
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, 4.5, Math.max(2, right - left - 1), high - 1);
}
