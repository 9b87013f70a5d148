// The heaps as cells: a canvas each, zoomed from all of the heap to a page and its objects.
'use strict';

// Viridis, which is told apart also without seeing all colours; step 0 is "nothing seen".
isotherm.RAMP = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962',
                 '#addc30', '#fde725'];
isotherm.colour_of = (digit) => digit > 0 ? isotherm.RAMP[digit - 1] : isotherm.ink('--none');

/** A cell of `size` pixels: what is in DRAM is filled from below, what is not is pale, and crossed out
 * where there is room. Nothing is drawn of addresses that were given back. */
isotherm.draw_cell = (context, x, y, size, in_dram, digit, is_held = true) => {
  if (!is_held && in_dram === 0) return;
  const gap = size > 3 ? 1 : 0, side = size - gap;
  const share = in_dram === 0 ? 0 : in_dram / 9;
  const filled = Math.max(share > 0 ? 1 : 0, Math.round(side * share));
  context.fillStyle = isotherm.colour_of(digit);
  context.fillRect(x, y + side - filled, side, filled);
  const rest = side - filled;
  if (rest <= 0) return;
  const colour = digit > 0 ? isotherm.colour_of(digit) : isotherm.ink('--away');
  context.globalAlpha = digit > 0 ? .45 : .25;
  context.fillStyle = colour;
  context.fillRect(x, y, side, rest);
  context.globalAlpha = 1;
  if (size < 8) return;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.strokeRect(x + .5, y + .5, side - 1, rest - 1);
  context.beginPath();
  context.moveTo(x, y + rest);
  context.lineTo(x + Math.min(side, rest), y + rest - Math.min(side, rest));
  context.stroke();
};

isotherm.HeapMap = class {
  static LEAST_PAGES = 64;
  static NOTES = {new: 'just made', hot: 'used of late', cold: 'at rest', node: 'index nodes'};

  /** shared: {colour(), choose(map), ask(path), is_saved} of the page. */
  constructor(into, name, shared) {
    Object.assign(this, {name, shared, cells: null, view: null, cursor: 0, columns: 1, size: 1});
    const make = isotherm.element;
    this.canvas = make('canvas', {className: 'map', tabIndex: 0, id: `map-${name}`});
    this.canvas.setAttribute('role', 'img');
    this.where = make('p', {className: 'where'});
    const button = (text, label, act) => {
      const made = make('button', {type: 'button', textContent: text, onclick: act});
      made.setAttribute('aria-label', `${name.toUpperCase()}: ${label}`);
      return made;
    };
    this.buttons = make('span', {hidden: shared.is_saved}, button('+', 'zoom in', () => this.zoom_in()), ' ',
                        button('\u2212', 'zoom out', () => this.zoom_out()), ' ',
                        button('all', 'show all', () => this.show_all()));
    const title = make('h3', {textContent: `${name.toUpperCase()} `},
                       make('span', {className: 'hint', textContent: isotherm.HeapMap.NOTES[name]}));
    into.append(make('div', {className: 'card'}, make('header', {}, title, this.buttons),
                     this.canvas, this.where));
    this.listen();
  }

  listen() {
    this.canvas.addEventListener('wheel', (event) => {
      if (this.shared.is_saved) return;
      event.preventDefault();
      this.point_at(event);
      if (event.deltaY < 0) this.zoom_in(); else this.zoom_out();
    }, {passive: false});
    this.canvas.addEventListener('click', (event) => { this.point_at(event); this.look_closer(); });
    this.canvas.addEventListener('dblclick', (event) => {
      this.point_at(event);
      if (!this.shared.is_saved) this.zoom_in();
    });
    this.canvas.addEventListener('focus', () => this.draw());
    this.canvas.addEventListener('blur', () => this.draw());
    this.canvas.addEventListener('keydown', (event) => this.press(event));
  }

  press(event) {
    const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns};
    const acts = {'+': 'zoom_in', '=': 'zoom_in', Enter: 'zoom_in', '-': 'zoom_out',
                  Backspace: 'zoom_out', Home: 'show_all'};
    if (this.shared.is_saved && event.key in acts) return;  // nobody answers with closer pages
    if (event.key in steps) {
      this.cursor = Math.max(0, Math.min(this.length() - 1, this.cursor + steps[event.key]));
      this.look_closer();
    } else if (event.key in acts) {
      this[acts[event.key]]();
    } else {
      return;
    }
    event.preventDefault();
  }

  point_at(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.size);
    const row = Math.floor((event.clientY - box.top) / this.size);
    if (column < 0 || column >= this.columns || row < 0) return;
    this.cursor = Math.max(0, Math.min(this.length() - 1, row * this.columns + column));
  }

  length() { return this.cells ? this.cells.in_dram.length : 0; }
  /** The first page of the cell under the cursor. */
  page() { return this.cells.from + this.cursor * this.cells.pages_per_cell; }

  zoom_in() {
    if (!this.length()) return;
    const shown = this.length() * this.cells.pages_per_cell;
    if (shown <= isotherm.HeapMap.LEAST_PAGES) return this.look_closer();
    const count = Math.max(isotherm.HeapMap.LEAST_PAGES, Math.ceil(shown / 16));
    this.show(this.page() - Math.floor(count / 2), count);
  }

  zoom_out() {
    if (!this.view) return;
    const count = this.view.count * 16;
    if (count >= this.cells.pages) return this.show_all();
    this.show(this.page() - Math.floor(count / 2), count);
  }

  show(from, count) {
    const page = this.page();
    from = Math.max(0, Math.min(from, this.cells.pages - count));
    this.view = {from, count, page};
    this.tell();
    this.refresh();
  }

  show_all() {
    this.view = null;
    this.shared.refresh();
  }

  /** The part that is shown, anew. */
  async refresh() {
    const view = this.view;
    if (!view) return;
    const found = await this.shared.ask(`api/map?heap=${this.name}&from=${view.from}&count=${view.count}`);
    if (found && view === this.view) this.take(found);
  }

  take(cells) {
    const page = this.view && this.view.page !== undefined ? this.view.page : this.cells && this.page();
    this.cells = cells;
    if (this.view) this.view.page = undefined;
    const at = Math.floor(((page || 0) - cells.from) / cells.pages_per_cell);
    this.cursor = Math.max(0, Math.min(this.length() - 1, at));
    this.draw();
  }

  /** Tells of the cell under the cursor; of a page, its objects too. */
  look_closer() {
    if (!this.length()) return;
    this.draw();
    this.shared.choose(this);
  }

  digit(cell) {
    const digits = this.cells[this.shared.colour()];
    return digits ? Number(digits[cell]) : 0;
  }

  is_held(cell) { return !this.cells.held || this.cells.held[cell] !== '0'; }

  draw() {
    const {context, width, height} = isotherm.fit(this.canvas);
    const count = this.length();
    if (!count) {
      context.fillStyle = isotherm.ink('--soft');
      context.fillText('no pages yet', 4, 16);
      this.tell();
      return;
    }
    this.size = Math.max(2, Math.min(16, Math.floor(Math.sqrt(width * height / count))));
    while (this.size > 2 && Math.ceil(count / Math.floor(width / this.size)) * this.size > height) --this.size;
    this.columns = Math.max(1, Math.floor(width / this.size));
    for (let cell = 0; cell < count; ++cell) {
      isotherm.draw_cell(context, (cell % this.columns) * this.size,
                         Math.floor(cell / this.columns) * this.size, this.size,
                         Number(this.cells.in_dram[cell]), this.digit(cell), this.is_held(cell));
    }
    if (document.activeElement === this.canvas || this.shared.chosen === this) {
      context.strokeStyle = isotherm.ink('--ink');
      context.lineWidth = 2;
      context.strokeRect((this.cursor % this.columns) * this.size - 1,
                         Math.floor(this.cursor / this.columns) * this.size - 1,
                         this.size + 1, this.size + 1);
    }
    this.tell();
  }

  tell() {
    const cells = this.cells;
    const text = this.length() ?
        `pages ${cells.from.toLocaleString('en')} to ` +
        `${Math.min(cells.pages, cells.from + this.length() * cells.pages_per_cell).toLocaleString('en')} ` +
        `of ${cells.pages.toLocaleString('en')}; a cell is ` +
        (cells.pages_per_cell === 1 ? 'a page' : `${cells.pages_per_cell.toLocaleString('en')} pages`) : '';
    const is_awaited = this.view && this.view.page !== undefined;
    this.where.textContent = is_awaited ? `${text}; closer pages are being looked at` : text;
    this.canvas.setAttribute('aria-label', `Heap ${this.name.toUpperCase()}, ${text || 'empty'}`);
  }
};

/** The cell that was chosen, in words, and the objects of a page. */
isotherm.describe = (map) => {
  const of = (digits, words) => words(digits ? Number(digits[map.cursor]) : 0);
  const {cells} = map, page = map.page();
  const pages = cells.pages_per_cell === 1 ? `page ${page.toLocaleString('en')}` :
      `pages ${page.toLocaleString('en')} to ${(page + cells.pages_per_cell - 1).toLocaleString('en')}`;
  const dram = of(cells.in_dram, (digit) => digit === 0 ?
      (map.is_held(map.cursor) ? 'not in DRAM' : 'given back to the system') : digit === 9 ? 'in DRAM' :
      `about ${Math.round(100 * digit / 9)}% in DRAM`);
  const temperature = of(cells.temperature, (digit) => isotherm.TEMPERATURES[digit]);
  return `${map.name.toUpperCase()}, ${pages}: ${dram}; warmest object ${temperature}`;
};

isotherm.TEMPERATURES = ['not seen used', 'used in fewer than 1 of 128 windows', 'used in 1 of 128 windows',
                         'used in 1 of 64 windows', 'used in 1 of 32 windows', 'used in 1 of 16 windows',
                         'used in 1 of 8 windows', 'used in 1 of 4 windows', 'used in every other window',
                         'used in every window'];

/** 0.5 as the digit of the map. */
isotherm.digit_of_share = (share) =>
    share > 0 ? Math.max(1, 9 - Math.floor(-Math.log2(Math.min(share, 1)) + 1e-9)) : 0;

isotherm.draw_objects = (canvas, page) => {
  const {context, width, height} = isotherm.fit(canvas);
  context.fillStyle = isotherm.ink('--none');
  context.fillRect(0, 0, width, height);
  for (const object of page.objects) {
    const begin = Math.max(0, object.address - page.address) / 4096 * width;
    const end = Math.min(4096, object.address + object.bytes - page.address) / 4096 * width;
    context.fillStyle = isotherm.colour_of(isotherm.digit_of_share(object.temperature));
    context.fillRect(begin, 0, Math.max(1, end - begin - 1), height);
  }
};
