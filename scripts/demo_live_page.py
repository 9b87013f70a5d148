"""The live page of a server (isotherm serve --http), followed and kept: one HTML file that needs no
server and no other file, and a PNG of it where a browser is installed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
WIDTH, HEIGHT = 1280, 1590  # of the browser's window: the map and the charts; the rest is cut off
PATIENCE = 60               # seconds, for an answer


def read(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.read().decode()


class Follower:
    """Keeps what the server tells, an event a second, until save(). The uses of pages are recorded
    by the server while somebody asks for the map, as this does."""

    def __init__(self, url):
        self.url = url
        self.events = []
        self.stream = urllib.request.urlopen(url + 'events', timeout=PATIENCE)
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        try:
            for line in self.stream:
                if line.startswith(b'data: '):
                    at = time.monotonic()
                    event = json.loads(line[len(b'data: '):])
                    seen = json.loads(read(self.url + 'api/map'))
                    event['bound'] = seen.get('utilization_bound') or None
                    event['at_ms'] = round(at * 1000)
                    self.events.append(event)
        except (OSError, ValueError, AttributeError):
            pass  # the server has ended

    def save(self, page):
        """Writes the page as it is now to `page`, an HTML file. Returns the names of the files that
        were written, and a line that says why there is no picture, or None."""
        text = read(self.url)
        for name in re.findall(r'<link rel="stylesheet" href="([\w.]+)">', text):
            text = text.replace(f'<link rel="stylesheet" href="{name}">',
                                f'<style>{read(self.url + name)}</style>')
        kept = json.dumps({
            'tables': json.loads(read(self.url + 'api/tables')), 'events': self.events,
            'map': self.newest_map(),
            'at': time.strftime('%Y-%m-%d %H:%M:%S'),
            'course': f'The last {len(self.events)} seconds before it was saved; a point a second.',
        }).replace('</', '<\\/')
        scripts = re.findall(r'<script src="([\w.]+)"></script>', text)
        text = text.replace(f'<script src="{scripts[0]}">',
                            f'<script type="application/json" id="saved">{kept}</script>\n'
                            f'<script src="{scripts[0]}">')
        for name in scripts:
            text = text.replace(f'<script src="{name}"></script>',
                                f'<script>{read(self.url + name)}</script>')
        page = pathlib.Path(page)
        page.write_text(text)
        picture = page.with_suffix('.png')
        problem = draw(page, picture)
        return [page] if problem else [page, picture], problem

    def newest_map(self):
        while True:
            found = json.loads(read(self.url + 'api/map'))
            if 'heaps' in found:
                return found
            time.sleep(found['retry_after_ms'] / 1000)


def draw(page, picture):
    """Has a browser draw `page`. None, or a line that says why there is no picture."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        return f'no picture of the live page: none of {", ".join(BROWSERS)} is installed'
    try:
        with tempfile.TemporaryDirectory(prefix='isotherm-browser-') as folder:
            done = subprocess.run(
                [browser, '--headless=new', '--disable-gpu', '--hide-scrollbars', '--no-first-run',
                 *(['--no-sandbox'] if os.geteuid() == 0 else []), f'--user-data-dir={folder}',
                 f'--window-size={WIDTH},{HEIGHT}', '--virtual-time-budget=2000',
                 f'--screenshot={picture.resolve()}', page.resolve().as_uri()],
                capture_output=True, text=True, check=False, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f'no picture of the live page: {error}'
    if done.returncode != 0 or not picture.exists():
        return f'no picture of the live page: {browser} ended with {done.returncode}'
    return None
