# SPDX-License-Identifier: Apache-2.0
"""nbody_peers.py NBODY: compares the program nbody with programs of others, each where Python finds it.

yt and pynbody read the HDF5 file that nbody writes. rebound (GPL, so in a process of its own: this one) integrates ten bodies in
regular motion, and 1,000 softened ones over a tenth of a crossing time. FMM3D and pytreegrav compute the forces of 20,000
bodies. What is not installed is told and passed over: pip install yt pynbody rebound fmm3dpy pytreegrav."""
import importlib
import json
import os
import subprocess
import sys
import tempfile

NBODY = os.path.abspath(sys.argv[1])
FAILURES = []


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"{name}: skipped, {error}")
        return None


def run(*words):
    subprocess.run([NBODY, "--quiet", "--nacre.workers=1", *map(str, words)], check=True)


def expect(right, what):
    print(("right: " if right else "WRONG: ") + what)
    if not right:
        FAILURES.append(what)


def columns(name):
    with open(name) as file:
        return [[float(word) for word in line.split()] for line in file if not line.startswith("#")]


def distances(found, expected):
    return sorted(sum((a - b) ** 2 for a, b in zip(x, y)) ** 0.5 for x, y in zip(found, expected))


def readers():
    run("--model", "hernquist", "--bodies", 3000, "--steps", 0, "--out", "all.hdf5")
    run("--model", "hernquist", "--bodies", 3000, "--steps", 0, "--out", "all.txt")
    expected = columns("all.txt")
    pynbody = module("pynbody")
    if pynbody:
        dark = pynbody.load("all.hdf5").dark
        far = max(distances(dark["pos"].tolist(), [row[:3] for row in expected]))
        expect(len(dark) == 3000 and far < 1e-5, f"pynbody reads {len(dark)} bodies, the farthest {far:.1e} off")
    yt = module("yt")
    if yt:
        yt.set_log_level(50)
        places = yt.load("all.hdf5", bounding_box=[[-1e4, 1e4]] * 3).all_data()["PartType1", "Coordinates"]
        far = max(distances(sorted(places.d.tolist()), sorted(row[:3] for row in expected)))
        expect(len(places) == 3000 and far < 1e-5, f"yt reads {len(places)} bodies, the farthest {far:.1e} off")


def planets(rebound):
    system = rebound.Simulation()
    system.add(m=1)
    for k in range(9):
        system.add(m=1e-5 * (k + 1), a=0.4 * 1.6**k, e=0.02 * (k % 3), inc=0.01 * k, Omega=k, f=2.3 * k)
    system.move_to_com()
    with open("ten.txt", "w") as file:
        for p in system.particles:
            print(p.x, p.y, p.z, p.vx, p.vy, p.vz, p.m, file=file)
    return system


def integrator():
    rebound = module("rebound")
    if not rebound:
        return
    year, steps = 6.283185307179586, 20000
    system = planets(rebound)
    run("--model", "ten.txt", "--error", 0, "--step", year / steps, "--steps", steps, "--report", steps, "--out", "year.txt")
    system.integrator = "ias15"
    system.integrate(year)
    far = max(distances([row[:3] for row in columns("year.txt")], [[p.x, p.y, p.z] for p in system.particles]))
    expect(far < 2e-5, f"ten bodies after a year differ from rebound's by {far:.1e}")
    run("--bodies", 1000, "--steps", 0, "--out", "thousand.txt")
    run("--model", "thousand.txt", "--softening", 0.05, "--error", 1e-5, "--step", 0.002, "--steps", 300, "--out", "later.txt")
    system = rebound.Simulation()
    system.softening, system.gravity, system.integrator = 0.05, "basic", "ias15"
    for x, y, z, vx, vy, vz, m in columns("thousand.txt"):
        system.add(m=m, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    system.integrate(0.6)
    far = distances([row[:3] for row in columns("later.txt")], [[p.x, p.y, p.z] for p in system.particles])
    expect(far[500] < 2e-6 and far[-1] < 5e-5, f"1,000 bodies differ from rebound's by {far[500]:.1e}, at most {far[-1]:.1e}")


def forces():
    """nbody's own check, and the same bodies' forces by others, beside direct sums."""
    numpy = module("numpy")
    if not numpy:
        return
    run("--bodies", 20000, "--steps", 0, "--error", 1e-3, "--check", "--json", "own.json", "--out", "bodies.txt")
    rows = numpy.array(columns("bodies.txt"))
    x, m = rows[:, :3].copy(), rows[:, 6].copy()
    sample = range(0, 20000, 40)
    exact = []
    for k in sample:
        away = x - x[k]
        squares = (away**2).sum(1)
        squares[k] = 1
        exact.append((away * (m * squares**-1.5)[:, None]).sum(0))
    exact = numpy.array(exact)

    def error(found):
        return ((numpy.linalg.norm(found - exact, axis=1) / numpy.linalg.norm(exact, axis=1)) ** 2).mean() ** 0.5

    own = json.load(open("own.json"))
    expect(own["force_rms"] < 1e-3 and own["force_p99"] < 5e-3, f"nbody's error is {own['force_rms']:.1e}")
    fmm = module("fmm3dpy")
    if fmm:
        field = fmm.lfmm3d(eps=1e-5, sources=x.T.copy(), charges=m, pg=2).grad.T[list(sample)]
        factor = (exact * field).sum() / (field * field).sum()
        print(f"FMM3D's field times {factor:.6g} is the acceleration; its error is {error(factor * field):.1e}")
        expect(error(factor * field) < 1e-5, "FMM3D and the direct sum agree")
    tree = module("pytreegrav")
    if tree:
        found = tree.Accel(x, m, numpy.zeros(20000), theta=0.5, method="tree")[list(sample)]
        expect(error(found) < 3e-3, f"pytreegrav and the direct sum agree, to {error(found):.1e}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    readers()
    integrator()
    forces()
sys.exit(1 if FAILURES else 0)
