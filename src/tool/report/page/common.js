// SPDX-License-Identifier: Apache-2.0
// Numbers, times and canvases, for all pages.
const data = JSON.parse(document.getElementById("data").textContent);

function bytesOf(text) {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes;
}

const css = ([r, g, b], alpha = 1) => `rgba(${r},${g},${b},${alpha})`;

function duration(ns) {
  const size = Math.abs(ns);
  if (size < 1e3) return `${+ns.toFixed(0)} ns`;
  if (size < 1e6) return `${+(ns / 1e3).toPrecision(4)} µs`;
  if (size < 1e9) return `${+(ns / 1e6).toPrecision(4)} ms`;
  return `${+(ns / 1e9).toPrecision(4)} s`;
}
function amount(n, unit = "") {
  if (n < 1e4) return Math.round(n) + unit;
  const names = ["", "k", "M", "G", "T"];
  let index = 0;
  for (; n >= 999.5 && index < 4; index++) n /= 1000;
  return +n.toPrecision(3) + " " + names[index] + (unit.length > 2 ? unit : unit.trim());
}
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "–";
const byId = (id) => document.getElementById(id);
const total = (list, key) => list.reduce((sum, each) => sum + each[key], 0);

/// Fits the pixels of a canvas to the screen; what is drawn is in units of the page.
function fit(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11.5px system-ui, sans-serif";
  return {context, width, height, ratio};
}

/// Round steps of time for an axis of so many marks at most.
function marks(from, to, most) {
  const raw = (to - from) / most, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const all = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) all.push(at);
  return all;
}
