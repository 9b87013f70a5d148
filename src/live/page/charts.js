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
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? {maximumFractionDigits: 0} :
      {maximumSignificantDigits: 3};
  return value.toLocaleString('en', digits);
};

/** The least round number that is `most` or more, so that half of it is round as well. */
isotherm.round_up = (most, unit) => {
  const base = unit === 'bytes' ? 1024 ** Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024)) :
      10 ** Math.floor(Math.log10(most));
  const steps = unit === 'bytes' ? [1, 2, 4, 6, 8, 10, 16, 20, 32, 40, 64, 80, 100, 128, 160, 200, 256, 300, 400, 512, 600, 800, 1024] :
      [1, 2, 4, 6, 8, 10];
  return base * steps.find((step) => base * step >= most);
};

/** "12 s ago", "4 min ago". */
isotherm.ago = (seconds) => seconds < 1 ? 'now' : seconds < 90 ? `${Math.round(seconds)} s ago` :
    `${Math.round(seconds / 60)} min ago`;

isotherm.Chart = class {
  static POINTS = 600;
  static COLOURS = ['--accent', '--second', '--third'];
  static DASHES = [[], [7, 4], [2, 3]];  // so that lines are told apart without colours, too

  static LEFT = 62;    // of the plot, in pixels, the same for all: what happened together stands
  static BOTTOM = 18;  // one above the other
  static LEAST_SECONDS = 60;

  /** lines: [{name, get(event, before, seconds)}]; get gives a number, or null. */
  constructor(into, title, unit, lines) {
    Object.assign(this, {title, unit, lines, points: [], times: [], pointed: null});
    this.canvas = isotherm.element('canvas', {className: 'chart'});
    this.canvas.setAttribute('role', 'img');
    this.now = isotherm.element('p', {className: 'now'});
    this.card = isotherm.element('div', {className: 'card'}, isotherm.element('h3', {textContent: title}),
                                 this.canvas, this.now);
    into.append(this.card);
    this.canvas.addEventListener('pointermove', (event) => this.point_at(event.offsetX));
    this.canvas.addEventListener('pointerleave', () => this.point_at(null));
  }

  /** `now` in milliseconds. */
  add(event, before, seconds, now) {
    this.points.push(this.lines.map((line) => line.get(event, before, seconds)));
    this.times.push(now / 1000);
    if (this.points.length > isotherm.Chart.POINTS) {
      this.points.shift();
      this.times.shift();
      if (this.pointed) --this.pointed;
    }
  }

  /** Seconds that the plot shows, and where a point lies in it. */
  seconds() {
    return Math.max(isotherm.Chart.LEAST_SECONDS, this.times[this.times.length - 1] - this.times[0]);
  }
  x_of(at, width) {
    const age = this.times[this.times.length - 1] - this.times[at];
    return width - (width - isotherm.Chart.LEFT) * age / this.seconds();
  }

  point_at(x) {
    const {clientWidth} = this.canvas;
    const near = (at) => Math.abs(this.x_of(at, clientWidth) - x);
    this.pointed = x === null || !this.points.length ? null :
        this.times.reduce((best, _, at) => near(at) < near(best) ? at : best, 0);
    this.draw();
  }

  draw() {
    const values = this.points.flat().filter((value) => value !== null);
    this.card.hidden = !values.length;  // nothing here has this: another policy, no management
    if (this.card.hidden) return this.tell();
    const {context, width, height} = isotherm.fit(this.canvas);
    const {LEFT, BOTTOM} = isotherm.Chart;
    const most = isotherm.round_up(Math.max(...values, 0) || 1, this.unit);
    const top = 8, bottom = height - BOTTOM;
    const y_of = (value) => bottom - (bottom - top) * value / most;
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = isotherm.ink('--soft');
    context.strokeStyle = isotherm.ink('--line');
    context.lineWidth = 1;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const value of [0, most / 2, most]) {
      const y = Math.round(y_of(value)) + .5;
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width, y);
      context.stroke();
      context.fillText(isotherm.write(value, this.unit), LEFT - 6, y);
    }
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
    context.fillText(isotherm.ago(this.seconds()), LEFT, height - 4);
    context.textAlign = 'center';
    context.fillText(isotherm.ago(this.seconds() / 2), (LEFT + width) / 2, height - 4);
    context.textAlign = 'right';
    context.fillText('now', width, height - 4);
    if (this.pointed !== null) {
      context.beginPath();
      context.moveTo(this.x_of(this.pointed, width), top);
      context.lineTo(this.x_of(this.pointed, width), bottom);
      context.stroke();
    }
    this.lines.forEach((line, index) => {
      context.strokeStyle = isotherm.ink(isotherm.Chart.COLOURS[index]);
      context.setLineDash(isotherm.Chart.DASHES[index]);
      context.lineWidth = 2;
      context.beginPath();
      let is_down = false;
      this.points.forEach((point, at) => {
        const value = point[index];
        if (value === null) { is_down = false; return; }
        const x = this.x_of(at, width);
        if (is_down) context.lineTo(x, y_of(value)); else context.moveTo(x, y_of(value));
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
    const at = this.pointed ?? this.points.length - 1;
    const last = this.points[at] || [];
    const when = this.pointed === null ? '' :
        `${isotherm.ago(this.times[this.times.length - 1] - this.times[at])}: `;
    const words = this.lines.map((line, index) => `${line.name} ${isotherm.write(last[index], this.unit)}`);
    this.canvas.setAttribute('aria-label', `${this.title}: ${words.join(', ')}`);
    this.now.replaceChildren(when, ...this.lines.flatMap((line, index) => {
      const key = isotherm.element('canvas', {className: 'key'});
      requestAnimationFrame(() => this.draw_key(key, index));
      return [key, `${line.name} `,
              isotherm.element('b', {textContent: isotherm.write(last[index], this.unit)}), '  '];
    }));
  }
};
