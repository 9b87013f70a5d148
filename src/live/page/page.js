// The page: events once a second to numbers and charts, the map beside them. While it is hidden it
// asks for nothing.
'use strict';

(() => {
  const make = isotherm.element, get = (id) => document.getElementById(id);
  const saved = get('saved') ? JSON.parse(get('saved').textContent) : null;
  let tables = {figures: [], options: [], control: false};
  const maps = [];  // made when the first answer names the heaps
  let before = null, before_at = 0, bound = null, source = null;

  /** A number of the event, or null. */
  const figure = (name) => (event) => event.figures[name] ?? null;
  const rate = (name) => (event, last, seconds) =>
      last && seconds > 0 && name in event.figures ?
      Math.max(0, event.figures[name] - last.figures[name]) / seconds : null;
  const option = (name) => (tables.options.find((each) => each.name === name) || {value: ''}).value;
  /** Of a policy that has thresholds; another one leaves its fields unused. */
  const published = (get) => (event) => option('policy') === 'published' ? get(event) : null;
  /** Microseconds within which that share of the reads since the event before ended. */
  const read_time = (share) => (event, last) => {
    if (!last || !event.cold_read_waits || !last.cold_read_waits) return null;
    const counts = event.cold_read_waits.map((count, at) => count - last.cold_read_waits[at]);
    const all = counts.reduce((sum, count) => sum + count, 0);
    let seen = 0;
    const within = counts.findIndex((count) => (seen += count) >= share * all);
    return all > 0 ? 2 ** (within + 1) : null;
  };
  /** Over the heaps of objects. */
  const sum = (event, field) => Object.entries(event.heaps).reduce(
      (all, [name, heap]) => name === 'node' ? all : all + field(heap), 0);
  const has_heaps = (event) => Object.keys(event.heaps).length > 0;

  const CHARTS = [
    ['DRAM against its target', 'bytes', [
      {name: 'DRAM', get: figure('dram_bytes')},
      {name: 'target', get: (event) => event.figures.memory_target_bytes || null}]],
    ['Out of DRAM, and what could be', 'bytes', [
      {name: 'objects out of DRAM', get: (event) => has_heaps(event) ?
        sum(event, (heap) => Math.max(0, heap.bytes - heap.resident_bytes)) : null},
      {name: 'objects not used in the window', get: (event) => has_heaps(event) && event.figures.window ?
        Math.max(0, sum(event, (heap) => heap.bytes) - event.figures.accessed_bytes) : null}]],
    ['Page utilization against its bound', 'share', [
      {name: 'used of each page touched', get: figure('page_utilization')},
      {name: 'of NEW and HOT in the best order', get: (event) => event.bound ?? bound}]],
    ['Promotion rate a minute', 'share', [
      {name: 'rate', get: figure('promotion_rate')},
      {name: 'target', get: published(() => Number(option('target-promotion-rate')))}]],
    ['Least use that keeps an object in DRAM', '', [
      {name: 'uses a window, for each page that it takes', get: (event) => event.figures.kept_rate || null}]],
    ['Windows without use until an object is cold', '', [
      {name: 'windows', get: published(figure('cold_threshold'))}]],
    ['Misses a second', '', [
      {name: 'objects', get: rate('cold_misses')}, {name: 'reads', get: rate('cold_reads')}]],
    ['Time of misses in the last second', 'microseconds', [
      {name: 'p50', get: read_time(.5)}, {name: 'p99', get: read_time(.99)},
      {name: 'p99.9', get: read_time(.999)}]],
    ['COLD in its file, and what is still to be written', 'bytes', [
      {name: 'in the file', get: figure('cold_file_bytes')},
      {name: 'in DRAM only', get: figure('cold_memory_bytes')}]],
    ['Moves in the last window', '', [
      {name: 'to HOT', get: figure('promoted_objects')}, {name: 'to COLD', get: figure('demoted_objects')},
      {name: 'vetoed', get: figure('vetoed')}]],
    ['Commands a second', '', [{name: 'commands', get: rate('commands')}]],
    ['Time of replies in the last second', 'microseconds', [
      {name: 'p50', get: figure('reply_p50_us')}, {name: 'p99', get: figure('reply_p99_us')},
      {name: 'p99.9', get: figure('reply_p999_us')}]],
  ];
  const saved_bytes = CHARTS[1][2][0].get;

  /** Tiles at the top: a name, and a function that gives the value and its comparison. */
  const TILES = [
    ['keys', (event) => [isotherm.write(event.figures.keys), event.figures.used_memory_bytes ?
      `${isotherm.write(event.figures.used_memory_bytes, 'bytes')} of records and all else in DRAM` : '']],
    ['DRAM', (event) => {
      const {dram_bytes: dram, memory_target_bytes: target} = event.figures;
      return [isotherm.write(dram, 'bytes'),
              target ? `of ${isotherm.write(target, 'bytes')} that it may take` : 'no target', target ? dram / target : null];
    }],
    ['saved', (event) => {
      const gone = saved_bytes(event);
      if (gone === null) return ['-', 'management is off'];
      const all = sum(event, (heap) => heap.bytes);
      return [isotherm.write(gone, 'bytes'),
              all > 0 ? `${Math.round(100 * gone / all)}% of all objects are out of DRAM` : 'no objects yet'];
    }],
    ['found in DRAM', (event) => {
      const since = earlier(event), count = (name) => event.figures[name] - since.figures[name];
      const found = since ? count('keyspace_hits') : 0;
      if (!(found > 0)) return ['-', 'no key was read in the last minute'];
      const missed = 'cold_misses' in event.figures ? Math.min(count('cold_misses'), found) : 0;
      return [isotherm.write(1 - missed / found, 'share'),
              `of ${isotherm.write(found)} keys read in the last minute`];
    }],
    ['commands a second', (event) => [isotherm.write(event.figures.commands_per_second),
      `p99 ${isotherm.write(event.figures.reply_p99_us, 'microseconds')} in the server`]],
  ];
  const kMinute = 60;
  const past = [];  // events of the last minute
  const earlier = (event) => past.length > 1 && past[0] !== event ? past[0] : null;
  const tiles = TILES.map(([name]) => {
    const value = make('b', {textContent: '-'}), note = make('small'), bar = make('div');
    const meter = make('div', {className: 'meter', hidden: true}, bar);
    get('tiles').append(make('div', {className: 'card tile', id: `tile-${name.replaceAll(' ', '-')}`}, name, value, note, meter));
    return {value, note, meter, bar};
  });
  function show_tiles(event) {
    // CONFIG RESETSTAT has set the counters to zero: no difference to an older event means anything.
    if (past.length && event.figures.keyspace_hits < past[past.length - 1].figures.keyspace_hits) past.length = 0;
    past.push(event);
    if (past.length > kMinute) past.shift();
    TILES.forEach(([, tell], at) => {
      const [value, note, share = null] = tell(event), tile = tiles[at];
      tile.value.textContent = value;
      tile.note.textContent = note;
      tile.meter.hidden = share === null;
      tile.bar.style.width = `${Math.min(100, 100 * (share ?? 0))}%`;
    });
  }
  const charts = CHARTS.map((each) => new isotherm.Chart(get('charts'), ...each));

  const shared = {
    chosen: null, is_saved: saved !== null,
    colour: () => document.querySelector('input[name=colour]:checked').value,
    refresh: () => refresh_map(),
    choose: (map) => choose(map),
    async ask(path) {
      for (let attempts = 0; !saved && attempts < 5; ++attempts) {
        const answer = await fetch(path).catch(() => null);
        if (!answer || !answer.ok) return null;
        const found = await answer.json();
        if (answer.status !== 202) return found;
        await new Promise((done) => setTimeout(done, Math.min(found.retry_after_ms, 1000)));
      }
      return null;
    },
  };

  function draw_all() {
    charts.forEach((each) => each.draw());
    maps.forEach((each) => each.draw());
    draw_legend();
  }

  function draw_legend() {
    const is_used = shared.colour() === 'used';
    const words = is_used ?
        [[0, 'no byte used'], [1, 'hardly any'], [3, 'a quarter'], [5, 'half'], [7, 'three quarters'], [9, 'all']] :
        [[0, 'not seen used'], [1, 'in fewer than 1 of 128 windows'], [4, '1 of 32'], [6, '1 of 8'], [8, 'every other'],
         [9, 'every window']];
    const items = [...words.map(([digit, text]) => [9, digit, text]), [0, 0, 'pale: not in DRAM'],
                   [0, 7, 'and used all the same'], [5, 5, 'several pages, half in DRAM']];
    get('legend').replaceChildren(
        is_used ? 'Of each page was used: ' : 'The warmest object of each page is used: ',
        ...items.map(([in_dram, digit, text]) => {
          const canvas = make('canvas');
          const item = make('span', {}, canvas, text);
          requestAnimationFrame(() => isotherm.draw_cell(isotherm.fit(canvas).context, 0, 0, 16, in_dram, digit));
          return item;
        }), 'blank: given back to the system');
  }

  async function choose(map) {
    const previous = shared.chosen;
    shared.chosen = map;
    if (previous && previous !== map) previous.draw();
    const text = isotherm.describe(map);
    const line = make('p', {textContent: text, id: 'chosen'});
    get('detail').replaceChildren(make('div', {className: 'card'}, line));
    if (map.cells.pages_per_cell > 1 || map.name === 'node') return;
    const page = map.page();
    for (;;) {
      const found = await shared.ask(`api/page?heap=${map.name}&page=${page}`);
      if (shared.chosen !== map || map.page() !== page) return;
      if (found) return show_objects(found, text);
      line.textContent = text;
      if (saved || !source || source.readyState !== EventSource.OPEN) return;
      line.textContent = `${text}; its objects are being looked for`;
      await new Promise((done) => setTimeout(done, 500));
      if (shared.chosen !== map || map.page() !== page) return;
    }
  }

  function show_objects(page, text) {
    const canvas = make('canvas', {className: 'objects'});
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', `${page.objects.length} objects in the page, by address`);
    const rows = page.objects.map((each) => make('tr', {},
      make('td', {textContent: `0x${each.address.toString(16)}`}),
      make('td', {className: 'number', textContent: `${each.bytes.toLocaleString('en')} bytes`}),
      make('td', {textContent: isotherm.TEMPERATURES[isotherm.digit_of_share(each.temperature)]}),
      make('td', {textContent: each.used ? 'used since the last window' : ''})));
    const words = `${text}; ${page.used_bytes.toLocaleString('en')} of 4,096 bytes used in the last window; ` +
        `${page.objects.length} objects`;
    get('detail').replaceChildren(make('div', {className: 'card'}, make('p', {textContent: words, id: 'chosen'}),
        canvas, make('div', {className: 'scroll'}, make('table', {id: 'objects'}, make('tbody', {}, ...rows)))));
    isotherm.draw_objects(canvas, page);
  }

  function show_map(found) {
    bound = found.utilization_bound || null;
    get('window-note').textContent = found.window === null ?
        'Uses are shown from the end of the next window on.' : `Uses of window ${found.window.toLocaleString('en')}.`;
    found.heaps.forEach((cells, at) => {
      maps[at] ??= new isotherm.HeapMap(get('heaps'), cells.heap, shared);
      if (!maps[at].view) maps[at].take(cells);
    });
  }

  async function refresh_map() {
    if (!tables.options.length) {
      if (tables.figures.length) get('window-note').textContent = 'Management is off: there are no heaps to show.';
      return;
    }
    const found = await shared.ask('api/map');
    if (found) show_map(found);
    for (const map of maps) await map.refresh();
  }

  function show(event, now) {
    const seconds = (now - before_at) / 1000;
    for (const chart of charts) {
      chart.add(event, before, seconds, now);
      chart.draw();
    }
    show_tiles(event);
    [before, before_at] = [event, now];
    const {problem, ...facts} = event.facts;
    get('facts').textContent = Object.entries(facts).map(([name, value]) => `${name} ${value}`).join(', ');
    get('state').textContent = problem ? `problem: ${problem}` : 'live';
    get('state').className = problem ? 'problem' : '';
    for (const [name, value] of Object.entries(event.figures)) {
      const cell = get(`figure-${name}`);
      if (!cell) continue;
      cell.dataset.value = value;
      cell.textContent = isotherm.write(value, cell.dataset.unit);
    }
    document.body.dataset.events = Number(document.body.dataset.events || 0) + 1;
  }

  function show_tables() {
    get('figures').replaceChildren(make('tbody', {}, ...tables.figures.map((each) => {
      const cell = make('td', {className: 'number', id: `figure-${each.name}`});
      cell.dataset.unit = each.unit;
      return make('tr', {}, make('th', {textContent: each.name, scope: 'row'}), cell,
                  make('td', {textContent: each.help + (each.unit ? ` (${each.unit})` : '')}));
    })));
    get('options-section').hidden = !tables.options.length;
    get('options-note').textContent = tables.control ? 'Each change is asked for once more, and holds from the next window on.' :
        'Started without --http-control: they are shown, not changed.';
    get('options').replaceChildren(make('tbody', {}, ...tables.options.map(option_row)));
  }

  function option_row(each) {
    const value = make('td', {id: `option-${each.name}`});
    if (tables.control && each.live) {
      const input = make('input', {value: each.value, title: each.range});
      input.setAttribute('aria-label', each.name);
      value.append(input, ' ', make('button', {type: 'button', textContent: 'Change',
                                               onclick: () => change(each, input.value)}));
    } else {
      value.textContent = each.value;
    }
    return make('tr', {}, make('th', {textContent: each.name, scope: 'row'}), value,
                make('td', {textContent: `${each.help} (${each.range})`}));
  }

  function change(each, value) {
    const dialog = get('confirm');
    get('confirm-text').textContent = `Change ${each.name} from ${each.value} to ${value}?`;
    dialog.returnValue = 'no';
    dialog.onclose = async () => {
      if (dialog.returnValue !== 'yes') return;
      const answer = await fetch('api/options', {
        method: 'POST', headers: {'Content-Type': 'application/json'},
        body: JSON.stringify({name: each.name, value})}).catch(() => null);
      if (!answer) {
        get('options-note').textContent = `The server does not answer: ${each.name} may be as it was.`;
        return;
      }
      const told = await answer.json();
      await read_tables();
      get('options-note').textContent = answer.ok ? `${each.name} is ${value} from the next window on.` : told.error;
    };
    dialog.showModal();
  }

  async function read_tables() {
    const found = await shared.ask('api/tables');
    if (!found) return;
    tables = found;
    show_tables();
  }

  function open() {
    if (source) return;
    const opened = source = new EventSource('events');
    source.onopen = read_tables;  // again after a break: it may be another server
    source.onmessage = (message) => {
      show(JSON.parse(message.data), performance.now());
      refresh_map();
    };
    source.onerror = () => {
      get('state').textContent = 'not connected';
      get('state').className = 'problem';
      // A browser tries again by itself after a break, and not when it was refused.
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(() => { if (source === opened) { close(); open(); } }, 2000);
      }
    };
  }

  function close() {
    if (source) source.close();
    source = null;
    before = null;
  }

  document.querySelectorAll('input[name=colour]').forEach((each) => { each.onchange = draw_all; });
  window.addEventListener('resize', draw_all);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw_all);
  draw_legend();
  get('server').textContent = saved ? 'saved' : location.host;
  document.title = `${saved ? 'saved' : location.host} - Isotherm`;
  if (saved) {
    tables = saved.tables;
    show_tables();
    saved.events.forEach((event) => show(event, event.at_ms));
    if (saved.map) show_map(saved.map);
    get('state').textContent = `saved ${saved.at}`;
    get('course-note').textContent = saved.course;
    get('zoom-hint').textContent = 'Saved: it cannot be zoomed. A click, or Tab and the arrows, tell of a cell.';
    return;
  }
  document.addEventListener('visibilitychange', () => document.hidden ? close() : open());
  if (!document.hidden) open();
})();
