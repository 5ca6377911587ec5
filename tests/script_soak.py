#!/usr/bin/env python3
"""Random communication programs, run by the program and by a model of a few lines.

usage: script_soak.py MESHEMU [--runs N] [--seed S] [--jobs J] [--busy] [--clean] [--mesh AXES] [--keep DIR]

Half of the programs are correct: a random sequence of calls and messages that every rank walks in the same order, with
random pauses, computations, stops and early ends. None of them may raise a fault. The others have one mutation (two ops
of a rank change places, one is left out, one message gets another tag). The model says whether all ranks get to their
end, and if not, which of them are stuck and whether somebody who ended is to blame; the report must agree, with exactly
one fault. The last line is `N passed, N failed`.
"""
import argparse, concurrent.futures, json, os, random, subprocess, sys, tempfile

MESHES = ['tp=2', 'tp=3', 'dp=2,tp=2', 'dp=2,tp=3', 'dp=2,tp=2,cp=2', 'dp=4,tp=2', 'dp=4,tp=4']


def groups_of(axes):
    """{axis: [[rank, ...], ...]} and world, ranks row-major."""
    names = [a.split('=')[0] for a in axes.split(',')]
    sizes = [int(a.split('=')[1]) for a in axes.split(',')]
    world = 1
    for s in sizes:
        world *= s
    groups = {'world': [list(range(world))]}
    stride = world
    for name, size in zip(names, sizes):
        stride //= size
        groups[name] = [[r + i * stride for i in range(size)] for r in range(world) if r // stride % size == 0]
    return world, groups


def draw(rng, mesh):
    """A correct program: (mesh, semantics, world, groups, {rank: [op]}). op: (what, ...)"""
    axes = mesh or rng.choice(MESHES)
    world, groups = groups_of(axes)
    programs = {r: [] for r in range(world)}
    semantics = rng.choice(['strict', 'buffered'])
    handle = 0
    for _ in range(rng.randint(3, 14)):
        kind = rng.random()
        if kind < 0.6:
            axis = rng.choice(list(groups))
            for members in groups[axis] if rng.random() < 0.7 else [rng.choice(groups[axis])]:
                for r in members:
                    programs[r].append(('call', axis, tuple(members), None))
        elif kind < 0.9:
            a, b = rng.sample(range(world), 2)
            tag = rng.randint(0, 2)
            programs[a].append(('send', b, tag, None))
            programs[b].append(('recv', a, tag, None))
        else:
            r = rng.randrange(world)
            programs[r].append(('pause', rng.choice(['sleep: 3ms', 'compute: 2ms', 'sleep: 20ms',
                                                     'stop: true, cont_after: 10ms'])))
    for r, ops in programs.items():     # some calls are started early and waited for later
        for i, op in enumerate(ops):
            if op[0] in ('call', 'send', 'recv') and rng.random() < 0.25:
                handle += 1
                name = 'h%d' % handle
                ops[i] = op[:3] + (name,)
                ops.insert(rng.randint(i + 1, len(ops)), ('wait', name))
    return axes, semantics, world, groups, programs


def mutate(rng, programs):
    ranks = [r for r in programs if len(programs[r]) > 1]
    if not ranks:
        return None
    ops = programs[rng.choice(ranks)]
    plain = [i for i, op in enumerate(ops) if op[0] in ('call', 'send', 'recv') and op[3] is None]
    if not plain:
        return None
    i = rng.choice(plain)
    how = rng.choice(['swap', 'swap', 'drop', 'tag'])
    if how == 'swap' and len(plain) > 1:
        j = rng.choice([p for p in plain if p != i])
        ops[i], ops[j] = ops[j], ops[i]
    elif how == 'tag' and ops[i][0] != 'call':
        ops[i] = ops[i][:2] + (ops[i][2] + 10,) + ops[i][3:]
    else:
        how = 'drop'
        del ops[i]
    return how


class Model:
    """Runs all ranks until nobody moves. Calls meet by position, messages by position for each pair and tag."""

    def __init__(self, semantics, programs):
        self.strict = semantics == 'strict'
        self.programs = programs
        self.at = {r: 0 for r in programs}
        self.started = {}       # (members, rank) -> calls started
        self.sent, self.asked = {}, {}      # (from, to, tag) -> count
        self.handles = {r: {} for r in programs}
        self.pending = {r: None for r in programs}

    def start(self, r, op):
        if op[0] == 'call':
            key = (op[1], op[2], r)
            self.started[key] = self.started.get(key, 0) + 1
            return ('call', op[1], op[2], self.started[key])
        table, key = (self.sent, (r, op[1], op[2])) if op[0] == 'send' else (self.asked, (op[1], r, op[2]))
        table[key] = table.get(key, 0) + 1
        return (op[0], key, table[key])

    def done(self, request):
        if request[0] == 'call':
            return all(self.started.get((request[1], request[2], m), 0) >= request[3] for m in request[2])
        if request[0] == 'send':
            return not self.strict or self.asked.get(request[1], 0) >= request[2]
        return self.sent.get(request[1], 0) >= request[2]

    def step(self, r):
        if self.pending[r] is not None:
            if not self.done(self.pending[r]):
                return False
            self.pending[r] = None
        if self.at[r] == len(self.programs[r]):
            return False
        op = self.programs[r][self.at[r]]
        self.at[r] += 1
        if op[0] == 'wait':
            self.pending[r] = self.handles[r][op[1]]
        elif op[0] != 'pause':
            request = self.start(r, op)
            if op[3] is None:
                self.pending[r] = request
            else:
                self.handles[r][op[3]] = request
        return True

    def awaited(self, r):
        request = self.pending[r]
        if request[0] == 'call':
            return {m for m in request[2] if self.started.get((request[1], request[2], m), 0) < request[3]}
        return {request[1][1] if request[0] == 'send' else request[1][0]}

    def run(self):
        while any([self.step(r) for r in self.programs]):
            pass
        stuck = {r for r in self.programs if self.pending[r] is not None}
        ended = set(self.programs) - stuck
        lost = any(n > self.asked.get(key, 0) for key, n in self.sent.items())
        return stuck, any(self.awaited(r) & ended for r in stuck), lost


def text_of(axes, semantics, programs):
    lines = ['mesh: ' + axes, 'semantics: ' + semantics, 'program:']
    for r, ops in programs.items():
        if not ops:
            continue
        lines += ['  - ranks: %d' % r, '    do:']
        for op in ops:
            tail = ', async: %s' % op[3] if op[0] in ('call', 'send', 'recv') and op[3] else ''
            if op[0] == 'call':
                lines.append('      - all_reduce: {over: %s, count: 4%s}' % (op[1], tail))
            elif op[0] == 'wait':
                lines.append('      - wait: ' + op[1])
            elif op[0] == 'pause':
                lines.append('      - {%s}' % op[1])
            else:
                lines.append('      - %s: {%s: %d, count: 4, tag: %d%s}'
                             % (op[0], 'to' if op[0] == 'send' else 'from', op[1], op[2], tail))
    return '\n'.join(lines) + '\n'


def judge(report, stuck, ended_awaited, lost):
    """None: as the model says; else what is wrong."""
    faults = [f for f in report['findings'] if f['severity'] == 'fault']
    shown = ', '.join('%s %s' % (f['class'], f['culprits']) for f in faults) or 'none'
    if not stuck and not lost:
        return 'faults in a correct program: ' + shown if faults else None
    if not faults:
        return 'no fault, but %s stuck, lost %s' % (sorted(stuck), lost)
    if len(faults) > 1 and any(f['class'] != 'DEADLOCK' and f['class'] != 'LOST_MESSAGE' for f in faults):
        return '%d faults: %s' % (len(faults), shown)
    if stuck and not ended_awaited:
        waits = {w['rank'] for f in faults for w in f['waits']}
        if any(f['class'] not in ('DEADLOCK', 'TAG_MISMATCH') for f in faults):
            return 'wanted DEADLOCK: ' + shown
        if not waits <= stuck:
            return 'deadlocked %s, by the model %s' % (sorted(waits), sorted(stuck))
    elif not stuck and any(f['class'] != 'LOST_MESSAGE' for f in faults):
        return 'wanted LOST_MESSAGE: ' + shown
    return None


def one(binary, seed, options):
    rng = random.Random(seed)
    while True:
        axes, semantics, world, groups, programs = draw(rng, options.mesh)
        how = mutate(rng, programs) if seed % 2 and not options.clean else 'none'
        if how:
            break
    stuck, ended_awaited, lost = Model(semantics, programs).run()
    with tempfile.TemporaryDirectory(prefix='soak') as work:
        path = os.path.join(work, '%d.yaml' % seed)
        with open(path, 'w') as f:
            f.write(text_of(axes, semantics, programs))
        try:
            run = subprocess.run([binary, 'script', path, '--json', '-'], capture_output=True, timeout=60)
            wrong = judge(json.loads(run.stdout), stuck, ended_awaited, lost)
            if not wrong and run.returncode not in (0, 1):
                wrong = 'exit code %d' % run.returncode
        except subprocess.TimeoutExpired:
            wrong = 'no end after 60 s (stuck by the model: %s)' % sorted(stuck)
        except ValueError:
            wrong = 'no report: ' + run.stderr.decode('utf-8', 'replace')[-200:]
        if wrong and options.keep:
            os.makedirs(options.keep, exist_ok=True)
            os.replace(path, os.path.join(options.keep, '%d.yaml' % seed))
    return how, bool(stuck or lost), wrong


def main():
    p = argparse.ArgumentParser(usage='%(prog)s MESHEMU [--runs N] [--seed S] [--jobs J] [--busy] [--clean] [--mesh AXES] '
                                      '[--keep DIR]')
    p.add_argument('meshemu')
    p.add_argument('--runs', type=int, default=200)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--busy', action='store_true', help='with two processes that burn time beside it')
    p.add_argument('--clean', action='store_true', help='correct programs alone')
    p.add_argument('--mesh', help='of all programs, as in dp=4,tp=4')
    p.add_argument('--keep', help='folder for programs that were judged wrong')
    a = p.parse_args()
    binary = os.path.abspath(a.meshemu)
    burners = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(2 if a.busy else 0)]
    passed = failed = broken = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            seeds = range(a.seed, a.seed + a.runs)
            for seed, (how, stuck, wrong) in zip(seeds, pool.map(lambda s: one(binary, s, a), seeds)):
                if wrong:
                    print('FAIL  seed %d, mutation %s: %s' % (seed, how, wrong), flush=True)
                broken += stuck
                passed, failed = passed + (not wrong), failed + bool(wrong)
    finally:
        for b in burners:
            b.kill()
            b.wait()
    print('%d of %d programs were broken' % (broken, a.runs))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
