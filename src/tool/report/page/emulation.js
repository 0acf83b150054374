// SPDX-License-Identifier: Apache-2.0
// The page of an emulation: src/tool/report/emulation_page.cpp is the writer of its data.
const end = Math.max(data.end_ns, 1), bins = data.bins, plane = data.plane, nodes = data.nodes;
const cells = bytesOf(plane.cells);  // by square of the plane and bin: 255ths of the busiest cell of all nodes
const columns = Math.ceil(plane.width / plane.group), lines = Math.ceil(plane.height / plane.group);
const axes = ["x", "y", "z"].filter((axis) => axis !== plane.axis);
const allNodes = data.grid[0] * data.grid[1] * data.grid[2];
let chosen = null;  // the bin of the map

/// From white over blue to dark for parts from 0 to 1; nothing at all is grey.
function shade(part) {
  if (part <= 0) return [238, 240, 243];
  const mix = (a, b, t) => Math.round(a + (b - a) * t), low = [214, 230, 250], middle = [61, 125, 216], high = [16, 34, 84];
  const [from, to, t] = part < 0.5 ? [low, middle, 2 * part] : [middle, high, 2 * part - 1];
  return [0, 1, 2].map((k) => mix(from[k], to[k], t));
}
const ofAll = (part) => `${+(100 * part).toPrecision(3)} %`;

/// Draws values of rows and columns, each as one pixel of a picture that is then stretched.
function stretch(context, box, width, height, value) {
  const picture = document.createElement("canvas");
  picture.width = Math.max(1, width);
  picture.height = Math.max(1, height);
  const inner = picture.getContext("2d"), image = inner.createImageData(picture.width, picture.height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = 4 * (y * width + x), colour = shade(value(x, y));
      for (let k = 0; k < 3; k++) image.data[at + k] = colour[k];
      image.data[at + 3] = 255;
    }
  }
  inner.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, 0, 0, width, height, box.left, box.top, box.width, box.height);
}
/// The end of the run within the width of all bins, which may reach beyond it.
const timeWidth = () => end / (bins * data.bin_ns);

function timeAxis(context, box) {
  context.fillStyle = "#66717f";
  context.textAlign = "center";
  for (const at of marks(0, end, Math.max(2, box.width / 90))) {
    context.fillText(duration(at), box.left + at / end * box.width, box.top + box.height + 15);
  }
}

const gutter = 64;
function drawHeat() {
  const rows = columns * lines, high = Math.max(120, Math.min(520, rows * 12));
  const paper = fit(byId("heat"), high + 22), box = {left: gutter, top: 2, width: paper.width - gutter - 8, height: high};
  stretchTime(paper.context, box, rows, (bin, row) => cells[row * bins + bin] / 255);
  timeAxis(paper.context, box);
  paper.context.textAlign = "right";
  const step = Math.max(1, Math.ceil(lines / Math.max(1, Math.floor(high / 16))));
  for (let line = 0; line < lines; line += step) {
    paper.context.fillText(`${axes[1]} = ${line * plane.group}`, gutter - 6, box.top + (line * columns) / rows * high + 11);
  }
  byId("heat").onpointermove = (event) => {
    const at = inBox(byId("heat"), box, event);
    if (!at) return hide();
    const bin = binAt(at.x), row = Math.min(rows - 1, Math.floor(at.y * rows));
    tell(event, `${squareName(row % columns, Math.floor(row / columns))}<br><em>from ${duration(bin * data.bin_ns)}:</em> ${ofAll(cells[row * bins + bin] / 255 * nodes.most_cell)} of its threads' time`);
  };
  byId("heat").onclick = (event) => {
    const at = inBox(byId("heat"), box, event);
    if (at) { chosen = binAt(at.x); drawMap(); }
  };
}
/// Bins side by side; the last one only as far as the run goes.
function stretchTime(context, box, rows, value) {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  stretch(context, {...box, width: box.width / Math.max(timeWidth(), 1e-9)}, bins, rows, value);
  context.restore();
}
const binAt = (x) => Math.max(0, Math.min(bins - 1, Math.floor(x * timeWidth() * bins)));
function squareName(u, v) {
  const range = (at, extent) => plane.group === 1 ? `${at}` : `${at * plane.group} to ${Math.min(extent, (at + 1) * plane.group) - 1}`;
  const of = {[plane.axis]: `${plane.at}`, [axes[0]]: range(u, plane.width), [axes[1]]: range(v, plane.height)};
  return `${plane.group === 1 ? "node" : "nodes"} (${of.x}, ${of.y}, ${of.z})`;
}

function drawMap() {
  const width = byId("map").clientWidth - gutter - 8, each = Math.max(1, Math.min(width / columns, 300 / lines, 26));
  const box = {left: gutter, top: 2, width: each * columns, height: each * lines};
  const paper = fit(byId("map"), box.height + 22);
  const lastWidth = end - (bins - 1) * data.bin_ns;
  const share = (u, v) => {
    const at = (v * columns + u) * bins;
    if (chosen !== null) return cells[at + chosen] / 255;
    let sum = 0;
    for (let bin = 0; bin < bins; bin++) sum += cells[at + bin] * (bin === bins - 1 ? lastWidth : data.bin_ns);
    return sum / 255 / end;
  };
  let most = 1e-12;
  for (let v = 0; v < lines; v++) for (let u = 0; u < columns; u++) most = Math.max(most, share(u, v));
  stretch(paper.context, box, columns, lines, (u, v) => share(u, v) / most);
  paper.context.fillStyle = "#66717f";
  paper.context.textAlign = "center";
  paper.context.fillText(`${axes[0]}, 0 to ${plane.width - 1}`, box.left + box.width / 2, box.top + box.height + 15);
  paper.context.textAlign = "right";
  paper.context.fillText(axes[1], gutter - 6, box.top + 11);
  byId("map_time").textContent = chosen === null ? "in the whole run" : `from ${duration(chosen * data.bin_ns)} to ${duration(Math.min(end, (chosen + 1) * data.bin_ns))}`;
  byId("map").onpointermove = (event) => {
    const at = inBox(byId("map"), box, event);
    if (!at) return hide();
    const u = Math.min(columns - 1, Math.floor(at.x * columns)), v = Math.min(lines - 1, Math.floor(at.y * lines));
    tell(event, `${squareName(u, v)}<br>${ofAll(share(u, v) * nodes.most_cell)} of its threads' time`);
  };
}

function drawBands() {
  const rows = nodes.bands + 1, high = 240;
  const paper = fit(byId("bands"), high + 22), box = {left: gutter, top: 2, width: paper.width - gutter - 8, height: high};
  const count = (bin, row) => nodes.by_time[(rows - 1 - row) * bins + bin];
  stretchTime(paper.context, box, rows, (bin, row) => Math.log1p(count(bin, row)) / Math.log1p(allNodes));
  timeAxis(paper.context, box);
  paper.context.textAlign = "right";
  paper.context.fillText(ofAll(nodes.most_cell), gutter - 6, box.top + 11);
  paper.context.fillText("idle", gutter - 6, box.top + high - 3);
  byId("bands_text").textContent = `Darker is more nodes, on a logarithmic scale. The lowest line are nodes that do nothing; the others are twentieths of the most that a node has worked in such a time, ${ofAll(nodes.most_cell)} of its threads.`;
  byId("bands").onpointermove = (event) => {
    const at = inBox(byId("bands"), box, event);
    if (!at) return hide();
    const bin = binAt(at.x), row = Math.min(rows - 1, Math.floor(at.y * rows));
    tell(event, `<em>from ${duration(bin * data.bin_ns)}:</em> ${count(bin, row).toLocaleString("en")} nodes ${bandName(rows - 1 - row, nodes.most_cell)}`);
  };
}
const bandName = (band, most) => band === 0 ? "idle" : `at ${ofAll((band - 1) / nodes.bands * most)} to ${ofAll(band / nodes.bands * most)}`;

/// Bars with the least and the most below them.
function drawBars(id, values, name, ends) {
  const high = 200, paper = fit(byId(id), high + 22), context = paper.context;
  const box = {left: gutter, top: 2, width: paper.width - gutter - 8, height: high};
  const most = Math.max(1, ...values), each = box.width / Math.max(1, values.length);
  values.forEach((value, index) => {
    const part = value === 0 ? 0 : Math.max(1, value / most * (high - 6));
    context.fillStyle = "#3d7dd8";
    context.fillRect(box.left + index * each, box.top + high - part, Math.max(0.6, each - (each > 3 ? 1 : 0)), part);
  });
  context.fillStyle = "#66717f";
  context.textAlign = "right";
  for (const at of marks(0, most, 4)) context.fillText(amount(at), gutter - 6, box.top + high - at / most * (high - 6) + 4);
  context.textAlign = "left";
  context.fillText(ends[0], box.left, box.top + high + 15);
  context.textAlign = "right";
  context.fillText(ends[1], box.left + box.width, box.top + high + 15);
  byId(id).onpointermove = (event) => {
    const at = inBox(byId(id), box, event);
    if (!at || values.length === 0) return hide();
    const index = Math.min(values.length - 1, Math.floor(at.x * values.length));
    tell(event, name(index, values[index]));
  };
}

function inBox(canvas, box, event) {
  const at = canvas.getBoundingClientRect(), x = (event.clientX - at.left - box.left) / box.width, y = (event.clientY - at.top - box.top) / box.height;
  return x >= 0 && x < 1 && y >= 0 && y < 1 ? {x, y} : null;
}
function tell(event, text) {
  const tip = byId("tip");
  tip.innerHTML = text;
  tip.style.display = "block";
  tip.style.left = Math.min(event.clientX + 14, window.innerWidth - 260) + "px";
  tip.style.top = event.clientY + 16 + "px";
}
function hide() { byId("tip").style.display = "none"; }

function fillHead() {
  byId("name").textContent = data.title || "Emulation";
  document.title = (data.title ? data.title + " · " : "") + "Nacre emulation";
  byId("about").textContent = `${data.grid.join(" × ")} nodes of ${data.threads} threads, emulated`;
  const tiles = [[duration(data.end_ns), "predicted time"], [ofAll(data.busy_ns / (end * allNodes * data.threads)), "of all threads' time"],
    [amount(data.nodes_that_work), `of ${amount(allNodes)} nodes ran handlers`], [amount(data.handlers), "handlers"],
    [amount(data.messages), "packets"], [data.messages ? (data.all_hops / data.messages).toFixed(1) : "–", "hops a packet"],
    [amount(data.delayed), "waited for a thread"], [amount(data.held_back), "input buffers full"],
    [amount(data.stalled), "output buffers full"], [duration(data.stall_ns), "threads waited so"]];
  if (data.contention) {
    tiles.splice(5, 1, [amount(data.link_waits), "waits for links"], [duration(data.link_wait_ns), "of them together"]);
    tiles.pop();
  }
  byId("tiles").innerHTML = tiles.map(([value, name]) => `<div class="tile"><b>${value}</b><span>${name}</span></div>`).join("");
  byId("plane_name").textContent = `${plane.axis} = ${plane.at}`;
  byId("scale").innerHTML = [0, 0.01, 0.25, 0.5, 0.75, 1].map((part) => `<i style="background:${css(shade(part))}"></i>`).join("");
  byId("scale").appendChild(document.createTextNode(
    data.busy_ns > 0 ? `idle to ${ofAll(nodes.most_cell)} of a node's threads` : "handlers took no virtual time"));
}

function fillPath() {
  const path = data.path;
  if (!path.known) {
    byId("path_text").textContent = "Not recorded: run emulate with --critical-path as well (emulation_options::critical_path).";
    return;
  }
  byId("path_text").textContent = `${path.handlers.toLocaleString("en")} handlers run for ${duration(path.running_ns)}, messages and timers between them take ${duration(path.under_way_ns)}; ${path.waits.toLocaleString("en")} waited for a thread. The longest parts, in the order of time:`;
  byId("path").innerHTML = "<tr><th>handler</th><th>node</th><th>thread</th><th>starts</th><th>runs</th><th>before it</th></tr>";
  for (const [start, cost, before, waited, node, thread, handler] of path.longest) {
    const line = byId("path").insertRow();
    for (const text of [handler, node, thread, duration(start), duration(cost), waited ? "its thread" : duration(before)]) {
      line.insertCell().textContent = text;
    }
  }
}

function drawAll() {
  drawHeat();
  drawMap();
  drawBands();
  const {group, packets} = data.hops;
  const hopName = (index) => group === 1 ? `${index}` : `${index * group} to ${(index + 1) * group - 1}`;
  drawBars("hops", packets, (index, value) => `${value.toLocaleString("en")} packets<br><em>of ${hopName(index)} hops</em>`, ["0 hops", `${hopName(packets.length - 1)} hops`]);
  byId("hops_text").textContent = packets.length ? "0 hops: to their own node." : "No packet was sent.";
  drawBars("overall", nodes.overall, (index, value) => `${value.toLocaleString("en")} nodes<br><em>${bandName(index, nodes.most_node)}</em>`, ["idle", ofAll(nodes.most_node)]);
  byId("overall_text").textContent = `From nodes that did nothing to the busiest one, which has used ${ofAll(nodes.most_node)} of its threads' time.`;
  document.body.dataset.drawn = `${columns * lines} lines, ${bins} bins, ${packets.length} bars`;
}
fillHead();
fillPath();
drawAll();
byId("whole").onclick = () => { chosen = null; drawMap(); };
addEventListener("resize", drawAll);
addEventListener("pointerout", hide);
