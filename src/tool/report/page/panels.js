// SPDX-License-Identifier: Apache-2.0
// The rest of the page: figures, bars, the matrix of messages, the table of handlers, and how all of it is steered.
let inOrder = true, byCount = true;

function fillHead() {
  const own = workers, all = total(own, "work") + total(own, "runtime") + total(own, "idle");
  const busiest = Math.max(...own.map((row) => row.work)), mean = total(own, "work") / Math.max(1, own.length);
  const tracksOf = (list) => total(list, "tracks");
  byId("name").textContent = data.program;
  const kind = data.simulated ? "simulated machine" : data.transport;
  byId("about").textContent = `${data.ranks} rank${data.ranks > 1 ? "s" : ""}, ${tracksOf(own)} workers · ${kind} · balancer ${data.balancer}`;
  document.title = data.program + " · Nacre trace";
  const sent = data.messages.count.reduce((a, b) => a + b, 0), bytes = data.messages.bytes.reduce((a, b) => a + b, 0);
  const tiles = [[duration(end), data.simulated ? "virtual time" : "time"], [percent(total(own, "work"), all), "of it work"],
    [percent(total(own, "runtime"), all), "runtime"], [percent(total(own, "idle"), all), "idle"],
    [mean > 0 ? (busiest / mean).toFixed(2) : "–", "busiest / mean"],
    [amount(handlers.filter((h) => !h.ofRuntime).reduce((a, h) => a + h.runs, 0)), "handlers"],
    [amount(data.migrations.count), "migrations"], [amount(total(rows, "steals")), "steals in ranks"],
    [amount(sent), "messages sent"], [amount(bytes, " B"), "bytes sent"]];
  byId("tiles").innerHTML = tiles.map(([value, name]) => `<div class="tile"><b>${value}</b><span>${name}</span></div>`).join("");
  if (data.notes.length) {
    byId("notes").hidden = false;
    for (const note of data.notes) byId("notes").appendChild(document.createElement("p")).textContent = note;
  }
  const shown = [`${amount(spans.count)} single spans` + (spans.least > 0 ? `, none shorter than ${duration(spans.least)}; what is shorter shows as its share of time` : ", all there are")];
  if (migrations.length < data.migrations.count) shown.push(`${amount(migrations.length)} of ${amount(data.migrations.count)} migrations`);
  if (steals.length < data.steals.count) shown.push(`${amount(steals.length)} of ${amount(data.steals.count)} steals`);
  if (traced.length < data.traced.count) shown.push(`${amount(traced.length)} of ${amount(data.traced.count)} lines of messages`);
  byId("size").textContent = "This page holds " + shown.join("; ") + ".";
}

function keyOf(colour, text) {
  const key = document.createElement("span");
  key.className = "key";
  key.innerHTML = `<i style="background:${css(colour)}"></i>`;
  key.appendChild(document.createTextNode(text));
  return key;
}

function fillLegend() {
  const legend = byId("legend");
  legend.textContent = "";
  if (view.byHandler) {
    handlers.filter((h) => !h.ofRuntime).slice(0, palette.length).forEach((h, i) => legend.appendChild(keyOf(
      handlerColour[i], i === palette.length - 1 ? "other handlers" : shortName(h.name, 46))));
  } else {
    legend.appendChild(keyOf(activity.work, "work (handlers)"));
  }
  if (rows.some((row) => row.main > 0)) legend.appendChild(keyOf(activity.main, "main"));
  legend.appendChild(keyOf(activity.runtime, "runtime"));
  legend.appendChild(keyOf(activity.idle, "idle"));
}

function drawBreakdown() {
  const paper = fit(byId("breakdown"), 270), context = paper.context;
  const own = inOrder ? workers : [...workers].sort((a, b) => b.work - a.work);
  const left = 52, high = 236, top = 8, width = paper.width - left - 8, each = width / own.length;
  const most = Math.max(end, ...own.map((row) => (row.work + row.runtime + row.idle) / row.tracks));
  own.forEach((row, index) => {
    let y = top + high;
    for (const [key, colour] of [["work", activity.work], ["runtime", activity.runtime], ["idle", activity.idle]]) {
      const part = row[key] / row.tracks / most * high;
      context.fillStyle = css(colour);
      context.fillRect(left + index * each, y - part, Math.max(0.6, each - (each > 6 ? 2 : each > 3 ? 0.7 : 0)), part);
      y -= part;
    }
  });
  context.fillStyle = "#66717f";
  context.textAlign = "right";
  for (const at of marks(0, most, 5)) context.fillText(duration(at), left - 6, top + high - at / most * high + 4);
  context.textAlign = "center";
  const step = Math.max(1, Math.ceil(own.length / Math.max(1, Math.floor(width / 46))));
  for (let index = 0; index < own.length; index += step) {
    const name = data.ranks === 1 ? own[index].track : own[index].rank + (tracksARank > 1 ? "·" + own[index].track : "");
    context.fillText(String(name), left + (index + 0.5) * each, top + high + 16);
  }
  context.textAlign = "left";
  context.setLineDash([5, 4]);
  context.strokeStyle = "#1d2733";
  context.beginPath();
  context.moveTo(left, top + high - end / most * high);
  context.lineTo(left + width, top + high - end / most * high);
  context.stroke();
  context.setLineDash([]);
  byId("breakdown_text").textContent = `One bar for each worker (${data.ranks === 1 ? "worker" : "rank" + (tracksARank > 1 ? "·worker" : "")}); the dashed line is the end of the run.`;
}

function drawMatrix() {
  const {sides, group, count, bytes} = data.messages, values = byCount ? count : bytes;
  const left = 46, top = 18, cellMost = 44, most = Math.max(1, ...values);
  const each = Math.min(cellMost, (byId("matrix").clientWidth - left - 30) / sides, 244 / sides), size = each * sides;
  const paper = fit(byId("matrix"), top + size + 8), context = paper.context;
  for (let from = 0; from < sides; from++) {
    for (let to = 0; to < sides; to++) {
      const value = values[from * sides + to], strength = value > 0 ? 0.12 + 0.88 * Math.log1p(value) / Math.log1p(most) : 0;
      const shade = (low, high) => Math.round(low + (high - low) * strength);
      context.fillStyle = value > 0 ? `rgb(${shade(236, 16)},${shade(242, 62)},${shade(250, 138)})` : "#f4f6f8";
      context.fillRect(left + to * each, top + from * each, each - (each > 8 ? 1 : 0), each - (each > 8 ? 1 : 0));
      if (value === 0 || each < cellMost) continue;  // where there is room the number itself is there, too
      context.fillStyle = strength > 0.5 ? "#fff" : "#1d2733";
      context.textAlign = "center";
      context.fillText(amount(value), left + (to + 0.5) * each, top + (from + 0.5) * each + 4, each - 4);
    }
  }
  context.fillStyle = "#66717f";
  const step = Math.max(1, Math.ceil(sides / 8));
  for (let index = 0; index < sides; index += step) {
    context.textAlign = "center";
    context.fillText(String(index * group), left + (index + 0.5) * each, top - 6);
    context.textAlign = "right";
    context.fillText(String(index * group), left - 6, top + (index + 0.5) * each + 4);
  }
  context.textAlign = "left";
  context.fillText("to", left + size + 4, top - 6);
  context.fillText("from", 4, top - 6);
  matrixPlot = {left, top, each, sides, group};
  document.body.dataset.matrix = `${Math.round(size)}`;
  byId("matrix_text").textContent = `Darker is more, on a logarithmic scale; the most is ${amount(most, byCount ? " messages" : " B")}.`;
}
let matrixPlot = null;

function fillHandlers() {
  const ofProgram = handlers.reduce((a, h) => a + h.ns, 0), longest = Math.max(1, ...handlers.map((h) => h.ns));
  const table = byId("handlers");
  table.innerHTML = "<tr><th>name</th><th>runs</th><th>time</th><th>share</th><th>mean</th><th>longest</th></tr>";
  handlers.forEach((h, i) => {
    const line = table.insertRow();
    line.insertCell().appendChild(keyOf(handlerColour[i], h.name + (h.ofRuntime ? "  (runtime)" : "")));
    line.insertCell().textContent = h.runs.toLocaleString("en");
    line.insertCell().textContent = duration(h.ns);
    line.insertCell().innerHTML = `<span class="share" style="width:${Math.round(90 * h.ns / longest)}px;background:${css(handlerColour[i])}"></span>${percent(h.ns, ofProgram)}`;
    line.insertCell().textContent = duration(h.runs ? h.ns / h.runs : 0);
    line.insertCell().textContent = duration(h.longest);
  });
}

function fillPhases() {
  byId("phases_card").hidden = byId("phases_key").hidden = phases.length === 0;
  const longest = Math.max(1, ...phases.map((phase) => phase.own)), table = byId("phases");
  table.innerHTML = "<tr><th>name</th><th>times</th><th>time</th><th>with inner phases</th><th>longest</th><th>mean of a rank</th><th>most of a rank</th><th>imbalance</th></tr>";
  phases.forEach((phase, index) => {
    const line = table.insertRow(), colour = css(phaseColour(index));
    line.insertCell().appendChild(keyOf(phaseColour(index), phase.name));
    line.insertCell().textContent = phase.count.toLocaleString("en");
    line.insertCell().innerHTML = `<span class="share" style="width:${Math.round(90 * phase.own / longest)}px;background:${colour}"></span>${duration(phase.own)}`;
    line.insertCell().textContent = duration(phase.whole);
    line.insertCell().textContent = duration(phase.longest);
    line.insertCell().textContent = duration(phase.mean);
    line.insertCell().textContent = `${duration(phase.most)} (rank ${phase.mostRank})`;
    line.insertCell().textContent = phase.mean > 0 ? (phase.most / phase.mean).toFixed(2) : "–";
  });
}
