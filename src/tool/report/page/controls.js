// SPDX-License-Identifier: Apache-2.0
// Zooming, moving, switching, and what the pointer points at.
function show(from, to, top = view.top, bottom = view.bottom) {
  const least = Math.max(end * 1e-9, 20), width = Math.min(end, Math.max(least, to - from));
  view.from = Math.max(0, Math.min(end - width, from));
  view.to = view.from + width;
  const high = Math.min(rows.length, Math.max(Math.min(2, rows.length), bottom - top));
  view.top = Math.max(0, Math.min(rows.length - high, top));
  view.bottom = view.top + high;
  requestAnimationFrame(() => { drawTracks(); drawOverview(); });
}

function place(event) {
  const box = tracks.getBoundingClientRect(), high = tracksHeight() - axis, width = box.width - gutter;
  const x = (event.clientX - box.left - gutter) / width, y = (event.clientY - box.top) / high;
  return {x, y, time: view.from + x * (view.to - view.from), row: Math.floor(view.top + y * (view.bottom - view.top)), width, high};
}

tracks.addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = place(event), factor = Math.exp(Math.max(-300, Math.min(300, event.deltaY || event.deltaX)) / 400);
  if (event.shiftKey) {
    const row = view.top + at.y * (view.bottom - view.top);
    show(view.from, view.to, row - (row - view.top) * factor, row + (view.bottom - row) * factor);
  } else {
    show(at.time - (at.time - view.from) * factor, at.time + (view.to - at.time) * factor);
  }
}, {passive: false});

let held = null;
tracks.addEventListener("pointerdown", (event) => {
  held = {x: event.clientX, y: event.clientY, ...view};
  tracks.setPointerCapture(event.pointerId);
  tracks.classList.add("held");
});
tracks.addEventListener("pointerup", () => { held = null; tracks.classList.remove("held"); });
tracks.addEventListener("pointermove", (event) => {
  const at = place(event);
  if (held) {
    const time = (held.x - event.clientX) / at.width * (held.to - held.from);
    const row = (held.y - event.clientY) / at.high * (held.bottom - held.top);
    show(held.from + time, held.to + time, held.top + row, held.bottom + row);
  }
  tellOf(at, event);
});
tracks.addEventListener("dblclick", () => show(0, end, 0, rows.length));
tracks.addEventListener("keydown", (event) => {
  const width = view.to - view.from, middle = (view.from + view.to) / 2;
  const moves = {ArrowLeft: -0.2, ArrowRight: 0.2}, zooms = {"+": 0.6, "=": 0.6, "-": 1.6};
  if (event.key in moves) show(view.from + moves[event.key] * width, view.to + moves[event.key] * width);
  if (event.key in zooms) show(middle - width / 2 * zooms[event.key], middle + width / 2 * zooms[event.key]);
  if (event.key === "0") show(0, end, 0, rows.length);
});

let chosen = null;
const overviewTime = (event) => {
  const box = overview.getBoundingClientRect();
  return Math.max(0, Math.min(1, (event.clientX - box.left - gutter) / (box.width - gutter))) * end;
};
overview.addEventListener("pointerdown", (event) => { chosen = overviewTime(event); overview.setPointerCapture(event.pointerId); });
overview.addEventListener("pointermove", (event) => {
  const now = overviewTime(event);
  if (chosen !== null && Math.abs(now - chosen) > end * 0.004) show(Math.min(chosen, now), Math.max(chosen, now));
});
overview.addEventListener("pointerup", () => { chosen = null; });
overview.addEventListener("dblclick", () => show(0, end));

const tip = byId("tip");
function point(event, lines) {
  tip.textContent = "";
  lines.forEach((text, index) => {
    const line = tip.appendChild(document.createElement("div"));
    line.appendChild(document.createElement(index === 0 ? "b" : "em")).textContent = text;
  });
  tip.style.display = "block";
  tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8) + "px";
}
const unpoint = () => { tip.style.display = "none"; };

function nameOfCode(code) { return code === 0 ? "idle" : code === 1 ? "runtime" : code === 2 ? "main" : handlers[code - 3].name; }

function tellOf(at, event) {
  if (at.x < 0 || at.x > 1 || at.y < 0 || at.y > 1 || at.row < 0 || at.row >= rows.length) return unpoint();
  const lines = [`${rows[at.row].label} at ${duration(at.time)}`];
  const span = spans.first.length > at.row + 1 ? spanAt(at.row, at.time) : -1;
  if (span >= 0 && span < spans.first[at.row + 1] && spans.begin[span] <= at.time) {
    lines.push(nameOfCode(spans.code[span]), `${duration(spans.length[span])}, from ${duration(spans.begin[span])}`);
  } else {
    const cell = 4 * (at.row * bins + Math.min(bins - 1, Math.floor(at.time / end * bins))), tag = cells[cell + 3];
    const share = (part) => Math.round(cells[cell + part] / 2.55) + " %";
    lines.push(`work ${share(0)}, runtime ${share(1)}, idle ${share(2)} of ${duration(end / bins)}`);
    if (tag > 0 && tag <= handlers.length && cells[cell] > 0) lines.push("mostly " + handlers[tag - 1].name);
  }
  const phase = phaseAt(at.row, at.time);
  if (phase) lines.push("phase " + phase.name);
  point(event, lines);
}
tracks.addEventListener("pointerleave", unpoint);

byId("breakdown").addEventListener("pointermove", (event) => {
  const box = byId("breakdown").getBoundingClientRect(), own = inOrder ? workers : [...workers].sort((a, b) => b.work - a.work);
  const row = own[Math.floor((event.clientX - box.left - 52) / (box.width - 60) * own.length)];
  if (!row) return unpoint();
  point(event, [row.label, `work ${duration(row.work)}, runtime ${duration(row.runtime)}, idle ${duration(row.idle)}`,
    `${amount(row.runs)} handlers, ${amount(row.steals)} steals`]);
});
byId("breakdown").addEventListener("pointerleave", unpoint);

byId("matrix").addEventListener("pointermove", (event) => {
  const box = byId("matrix").getBoundingClientRect(), {left, top, each, sides, group} = matrixPlot;
  const to = Math.floor((event.clientX - box.left - left) / each), from = Math.floor((event.clientY - box.top - top) / each);
  if (to < 0 || from < 0 || to >= sides || from >= sides) return unpoint();
  const name = (index) => group === 1 ? `rank ${index}` : `ranks ${index * group} to ${Math.min(data.ranks, (index + 1) * group) - 1}`;
  const at = from * sides + to;
  point(event, [`from ${name(from)} to ${name(to)}`, `${amount(data.messages.count[at])} messages, ${amount(data.messages.bytes[at], " B")}`]);
});
byId("matrix").addEventListener("pointerleave", unpoint);

/// Two buttons of which one is on.
function choice(first, second, act) {
  for (const id of [first, second]) {
    byId(id).addEventListener("click", () => {
      byId(first).classList.toggle("on", id === first);
      byId(second).classList.toggle("on", id === second);
      act(id === first);
    });
  }
}
choice("by_handler", "by_activity", (on) => { view.byHandler = on; fillLegend(); drawTracks(); });
choice("in_order", "by_work", (on) => { inOrder = on; drawBreakdown(); });
choice("by_count", "by_bytes", (on) => { byCount = on; drawMatrix(); });
byId("show_phases").addEventListener("change", (event) => { view.phases = event.target.checked; drawTracks(); });
byId("show_migrations").addEventListener("change", (event) => { view.migrations = event.target.checked; drawTracks(); });
byId("show_steals").addEventListener("change", (event) => { view.steals = event.target.checked; drawTracks(); });
byId("show_traced").addEventListener("change", (event) => { view.traced = event.target.checked; drawTracks(); });
byId("traced_key").hidden = data.traced.count === 0;
byId("all").addEventListener("click", () => show(0, end, 0, rows.length));

function drawAll() { drawOverview(); drawTracks(); drawBreakdown(); drawMatrix(); }
window.addEventListener("resize", drawAll);
fillHead();
fillLegend();
fillPhases();
fillHandlers();
for (const [name, colour] of [["work", activity.work], ["runtime", activity.runtime], ["idle", activity.idle]]) byId("breakdown_legend").appendChild(keyOf(colour, name));
drawAll();
document.body.dataset.shown = `${rows.length} rows, ${spans.count} spans, ${migrations.length} migrations`;
