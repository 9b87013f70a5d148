// Lines over time, as few as fit on a small canvas, and how numbers are written.
'use strict';

const isotherm = {};

isotherm.ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A canvas as many device pixels wide as it is shown, and its context in CSS pixels. */
isotherm.fit = (canvas) => {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return {context, width, height};
};

isotherm.element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

isotherm.write = (value, unit) => {
  if (value === null || value === undefined) return '-';
  if (unit === 'bytes') {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let at = 0;
    while (value >= 1024 && at + 1 < units.length) { value /= 1024; ++at; }
    return `${at && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
  }
  if (unit === 'share') return `${(100 * value).toFixed(1)}%`;
  if (unit === 'microseconds') {
    return value < 1000 ? `${Math.round(value)} us` : `${(value / 1000).toFixed(1)} ms`;
  }
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toPrecision(4);
};

isotherm.Chart = class {
  static POINTS = 600;
  static COLOURS = ['--accent', '--second', '--third'];
  static DASHES = [[], [7, 4], [2, 3]];  // so that lines are told apart without colours, too

  /** lines: [{name, get(event, before, seconds)}]; get gives a number, or null. */
  constructor(into, title, unit, lines) {
    Object.assign(this, {title, unit, lines, points: []});
    this.canvas = isotherm.element('canvas', {className: 'chart'});
    this.canvas.setAttribute('role', 'img');
    this.now = isotherm.element('p', {className: 'now'});
    into.append(isotherm.element('div', {className: 'card'}, isotherm.element('h3', {textContent: title}),
                                 this.canvas, this.now));
  }

  add(event, before, seconds) {
    this.points.push(this.lines.map((line) => line.get(event, before, seconds)));
    if (this.points.length > isotherm.Chart.POINTS) this.points.shift();
  }

  draw() {
    const {context, width, height} = isotherm.fit(this.canvas);
    const values = this.points.flat().filter((value) => value !== null);
    const most = Math.max(...values, 0) || 1;
    const top = 14, bottom = height - 4;
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = isotherm.ink('--soft');
    context.fillText(isotherm.write(most, this.unit), 0, 10);
    context.strokeStyle = isotherm.ink('--line');
    context.strokeRect(.5, top + .5, width - 1, bottom - top - 1);
    const step = width / Math.max(this.points.length - 1, 60);
    this.lines.forEach((line, index) => {
      context.strokeStyle = isotherm.ink(isotherm.Chart.COLOURS[index]);
      context.setLineDash(isotherm.Chart.DASHES[index]);
      context.lineWidth = 2;
      context.beginPath();
      let is_down = false;
      this.points.forEach((point, at) => {
        const value = point[index];
        if (value === null) { is_down = false; return; }
        const y = bottom - (bottom - top) * value / most;
        if (is_down) context.lineTo(at * step, y); else context.moveTo(at * step, y);
        is_down = true;
      });
      context.stroke();
    });
    context.setLineDash([]);
    this.tell();
  }

  draw_key(canvas, index) {
    const {context, width, height} = isotherm.fit(canvas);
    context.strokeStyle = isotherm.ink(isotherm.Chart.COLOURS[index]);
    context.setLineDash(isotherm.Chart.DASHES[index]);
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(0, height / 2);
    context.lineTo(width, height / 2);
    context.stroke();
  }

  tell() {
    const last = this.points[this.points.length - 1] || [];
    const words = this.lines.map((line, index) => `${line.name} ${isotherm.write(last[index], this.unit)}`);
    this.canvas.setAttribute('aria-label', `${this.title}: ${words.join(', ')}`);
    this.now.replaceChildren(...this.lines.flatMap((line, index) => {
      const key = isotherm.element('canvas', {className: 'key'});
      requestAnimationFrame(() => this.draw_key(key, index));
      return [key, `${line.name} `,
              isotherm.element('b', {textContent: isotherm.write(last[index], this.unit)}), '  '];
    }));
  }
};
