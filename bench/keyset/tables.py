"""Prints the results of `bench/keyset/run` as the tables of README.md."""

import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys


def table(head, rows):
    print('| ' + ' | '.join(head) + ' |')
    print('|' + '---|' * len(head))
    for row in rows:
        print('| ' + ' | '.join(row) + ' |')
    print()


def seconds(value):
    milliseconds = value * 1000
    return f'{milliseconds:,.0f} ms' if milliseconds >= 1000 else f'{milliseconds:.3g} ms'


def peak(command):
    """The peak resident memory of a command, in MB."""
    pid = os.posix_spawnp(command[0], command, os.environ)
    usage = os.wait4(pid, 0)[2]
    return usage.ru_maxrss / 1024


def getset(out):
    rows = []
    for path in sorted(out.glob('getset-*.json'), key=lambda path: path.stat().st_mtime):
        _, keys, mode = path.stem.split('-')
        results = json.loads(path.read_text())['results']
        cpu = {r['command']: r['user'] + r['system'] for r in results}
        quick = cpu['cenote quickdump'] / cpu['cenote dump']
        for result in results:
            name = result['command']
            real = cpu.get(name.replace('cenote', 'libelektra').removesuffix(', index only'))
            ours = name.startswith('cenote')
            rows.append([
                f'{int(keys):,}', mode, name, seconds(result['mean']), seconds(result['min']),
                seconds(cpu[name]), f'{real / cpu[name]:.1f}x' if real and ours else '-',
                f'{quick:.2f}' if name == 'cenote quickdump' else '-',
            ])
    table(['keys', 'mode', 'program', 'wall, mean', 'wall, min', 'CPU, mean',
           'CPU, libelektra / cenote', 'quickdump / dump'], rows)


def memory(out):
    bench = os.path.join(os.environ.get('CARGO_TARGET_DIR', 'target'), 'release/bench-keyset')
    programs = {'cenote': [bench, 'getset']}
    if kdb := os.environ.get('KDB'):
        programs['libelektra'] = [f'{kdb}/benchmark_plugingetset']
    rows = []
    for keys, mode in (('200000', 'get'), ('200000', 'getset'), ('2000000', 'get')):
        if not (out / keys).exists():
            continue
        for plugin in ('quickdump', 'dump'):
            for name, program in programs.items():
                command = [*program, f'{out}/{keys}', 'dir:/tests/bench', plugin]
                used = peak(command + (['get'] if mode == 'get' else []))
                rows.append([f'{int(keys):,}', mode, f'{name} {plugin}', f'{used:,.0f} MB'])
    table(['keys', 'mode', 'program', 'peak memory'], rows)


def storage(out):
    least = {}
    if not (out / 'storage.csv').exists():
        return
    with open(out / 'storage.csv') as file:
        for program, operation, time in csv.reader(file, delimiter=';'):
            if operation != 'operation':
                key = program, operation
                least[key] = min(int(time), least.get(key, int(time)))
    programs = list(dict.fromkeys(program for program, _ in least))
    operations = list(dict.fromkeys(operation for _, operation in least))
    table(['program', *operations],
          [[program, *(f'{least[program, op]:,}' for op in operations)] for program in programs])


def append(out):
    rows = []
    for path in sorted(out.glob('append-*.csv')):
        with open(path) as file:
            rounds = [[int(time) / 1000 for time in row[1:]]
                      for row in csv.reader(file, delimiter=';')]
        wall, cpu = zip(*rounds)
        plugin = path.stem.removeprefix('append-').replace('-', ' ')
        tenth = max(1, len(cpu) // 10)
        first, last = statistics.median(cpu[:tenth]), statistics.median(cpu[-tenth:])
        rows.append([plugin, str(len(rounds)), *(f'{time:,.1f} ms' for time in (
            first, last, max(cpu), statistics.mean(cpu), statistics.mean(wall)))])
    table(['program', 'rounds', 'first tenth, median CPU', 'last tenth, median CPU',
           'longest, CPU', 'mean CPU', 'mean wall'], rows)


def micro(out):
    times = {}
    for path in sorted(out.glob('micro-*.csv')):
        with open(path) as file:
            times[path.stem.removeprefix('micro-')] = dict(csv.reader(file, delimiter=';'))
    if 'cenote' in times:
        table(['operation', *(f'{program}, ns' for program in times)],
              [[what, *(f'{float(of[what]):,.0f}' for of in times.values())]
               for what in times['cenote']])


def machine():
    model = subprocess.run(['sh', '-c', 'grep -m1 "model name" /proc/cpuinfo; nproc; uptime'],
                           capture_output=True, text=True, check=False).stdout.split('\n')
    print(f'{model[0].split(":")[-1].strip()}, {model[1]} cores,{model[2].split("load")[-1]}\n')


if __name__ == '__main__':
    directory = pathlib.Path(sys.argv[1])
    for part in (getset, memory, storage, append, micro):
        part(directory)
    machine()
