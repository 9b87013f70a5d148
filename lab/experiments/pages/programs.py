"""Programs that were not chosen for their result, each with ordinary work: a query load of SQLite,
a Python program that reads and writes a document, a compilation by GCC."""
import json
import os
import pathlib
import random
import subprocess
import sys

from servers import Lacking

ROWS = 300_000
QUERIES = 20_000


def done(command, **more):
    try:
        return subprocess.run([str(word) for word in command], check=True, text=True, **more)
    except OSError as error:
        raise Lacking(f'{command[0]}: {error.strerror}') from None


def sqlite(folder, scale):
    """Point queries, skewed and uniform ones by turns, and short ranges, of a table of 60 MB."""
    rows = int(ROWS * scale)
    database, queries = folder / 'database', folder / 'queries'
    done(['sqlite3', database], input=f"""
        create table t(id integer primary key, name text, body text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
        insert into t select i, 'name' || i * 7919 % {rows}, hex(randomblob(80)) from n;
        create index names on t(name);
        """)
    draw = random.Random(1)
    lines = ['pragma cache_size = -200000;']
    for _ in range(int(QUERIES * scale) // 4):
        skewed = int(rows * draw.random()**4)
        lines += [f'select body from t where id = {skewed + 1};',
                  f"select id from t where name = 'name{draw.randrange(rows)}';",
                  f'select sum(length(body)) from t where id between {skewed} and {skewed + 50};',
                  f'select name from t where id = {draw.randrange(rows) + 1};']
    queries.write_text('\n'.join(lines), encoding='ascii')
    return ['sqlite3', '-readonly', database, f'.read {queries}']


def python(folder, scale):
    """python3 -m json.tool: reads a document of 12 MB, and writes it with its keys in order."""
    draw = random.Random(2)
    source = folder / 'document.json'
    source.write_text(json.dumps([
        {'id': i, 'name': f'name {i}', 'tags': [f'tag{draw.randrange(1000)}' for _ in range(5)],
         'amount': draw.random(), 'text': 'word ' * draw.randrange(20)}
        for i in range(int(60_000 * scale))]), encoding='ascii')
    interpreter = os.path.realpath(sys.executable)
    return [interpreter, '-m', 'json.tool', '--sort-keys', source, folder / 'sorted.json']


def compiler(folder, _):
    """The compiler proper of GCC, -O2, on a program that counts words."""
    source = folder / 'source.cpp'
    source.write_text("""
        #include <iostream>
        #include <map>
        #include <string>
        int main() {
          std::map<std::string, int> counts;
          for (std::string word; std::cin >> word;) ++counts[word];
          for (const auto& [word, count] : counts) std::cout << word << ' ' << count << '\\n';
        }
        """, encoding='ascii')
    text = folder / 'source.ii'
    done(['g++-12', '-std=c++17', '-E', source, '-o', text])
    found = done(['g++-12', '-print-prog-name=cc1plus'], capture_output=True).stdout.strip()
    return [found, '-quiet', '-fpreprocessed', '-std=c++17', '-O2', text, '-o', folder / 'source.s']


PROGRAMS = {'sqlite3': sqlite, 'python3': python, 'cc1plus': compiler}


def version(command):
    """The first line of what the program says of its version."""
    flag = '-version' if 'sqlite' in str(command[0]) else '--version'
    run = subprocess.run([command[0], flag], capture_output=True, text=True, check=False,
                         stdin=subprocess.DEVNULL)
    return (run.stdout or run.stderr).strip().split('\n', maxsplit=1)[0]


def observe(tool, name, folder, scale):
    """The window of the whole run, and the program's version."""
    if name not in PROGRAMS:
        raise Lacking(f'there is no program {name}: choose of {", ".join(PROGRAMS)}')
    command = PROGRAMS[name](pathlib.Path(folder), scale)
    report = pathlib.Path(folder) / 'report.json'
    done([tool, 'pages', '--json', report, '--', *command], stdout=subprocess.DEVNULL,
         stderr=subprocess.PIPE)
    return json.loads(report.read_text())['windows'][-1], version(command)
