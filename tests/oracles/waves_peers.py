# SPDX-License-Identifier: Apache-2.0
"""waves_peers.py WAVES: reads what the program waves writes with programs of others, and compares its reference with theirs,
each where Python finds it.

VTK reads the snapshots, ObsPy the SAC files, Pillow the animation. pyprop8 and pygrt-kit (GPL, so in a process of their own: this one)
compute the seismogram of LOH.1 that the program is compared with. What is not installed is told and passed over:
pip install vtk obspy pillow pyprop8 pygrt-kit."""
import importlib
import math
import os
import subprocess
import sys
import tempfile

WAVES = os.path.abspath(sys.argv[1])
REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../apps/waves/references/loh1.txt")
FAILURES = []
BASIN = """[grid]
size = [800.0, 1100.0, 600.0]
h = 50.0
time = 0.4
layers = 16

[[layer]]
vp = 3000.0
vs = 1500.0
rho = 2200.0

[[layer]]
top = 225.0
vp = 5000.0
vs = 2800.0
rho = 2600.0

[[source]]
at = [310.0, 620.0, 280.0]
moment = [1e15, 0.0, -1e15, 5e14, 0.0, 2e14]
time = "gaussian"
start = 0.1
width = 0.02

[[receiver]]
name = "town"
at = [500.0, 600.0, 0.0]

[[receiver]]
name = "deep"
at = [200.0, 600.0, 350.0]
"""


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"{name}: skipped, {error}")
        return None


def run(*words):
    subprocess.run([WAVES, "--quiet", "--nacre.workers=1", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def expect(right, what):
    print(("right: " if right else "WRONG: ") + what)
    if not right:
        FAILURES.append(what)


def columns(name):
    with open(name) as file:
        return [[float(word) for word in line.split()] for line in file if not line.startswith("#")]


def snapshots():
    """A point of a plane has the motion of the receiver there at that time."""
    vtk = module("vtk")
    if not vtk:
        return
    for plane, name, where in (("z=0", "town", (500, 600, 0)), ("y=600", "deep", (200, 600, 350))):
        run("basin.toml", "--snapshots", f"{plane[0]}.vti", "--plane", plane, "--every", 0.2, "--seismograms", "out")
        motion = columns(f"out.{name}.txt")
        files = sorted(file for file in os.listdir() if file.startswith(f"{plane[0]}-"))
        reader = vtk.vtkXMLImageDataReader()
        reader.SetFileName(files[-1])
        reader.Update()
        image = reader.GetOutput()
        values = image.GetPointData().GetArray("displacement")
        count, spacing, origin = image.GetDimensions(), image.GetSpacing(), image.GetOrigin()
        wanted = (49, 55, 1) if plane[0] == "z" else (49, 1, 29)
        expect(count == wanted and image.GetNumberOfPoints() == math.prod(wanted), f"VTK reads {count} points of {files[-1]}")
        expect(spacing == (50, 50, 50) and origin[:2] == (-800, -800 if plane[0] == "z" else 600), f"spaced {spacing} from {origin}")
        expect(values.GetNumberOfComponents() == 3 and image.GetPointData().GetVectors() is not None, "with vectors of displacement")
        found = values.GetTuple(image.FindPoint(where))
        step = round(0.2 * len(files) / motion[1][0])
        expect(max(abs(a - b) for a, b in zip(found, motion[step][1:])) <= 1e-6 * max(map(abs, found)) and max(map(abs, found)) > 0,
               f"which at receiver {name} is the motion of its seismogram at {motion[step][0]:.3f} s")


def animation():
    pillow = module("PIL.Image")
    if not pillow:
        return
    run("basin.toml", "--snapshots", "wave.png", "--every", 0.1)
    frames = sorted(file for file in os.listdir() if file.startswith("wave-"))
    with pillow.open("wave.png") as image:
        expect(image.n_frames == len(frames) == 4 and image.size == (49, 55), f"Pillow reads {image.n_frames} pictures of {image.size}")
        for number, frame in enumerate(frames):
            image.seek(number)
            with pillow.open(frame) as single:
                expect(image.convert("RGB").tobytes() == single.convert("RGB").tobytes(), f"picture {number + 1} is {frame}")


def seismograms():
    obspy = module("obspy")
    if not obspy:
        return
    run("basin.toml", "--seismograms", "out")
    for name in ("town", "deep"):
        motion = columns(f"out.{name}.txt")
        for axis, letter in enumerate("xyz"):
            (trace,) = obspy.read(f"out.{name}.{letter}.sac")
            expect(trace.stats.npts == len(motion) and abs(trace.stats.delta / motion[1][0] - 1) < 1e-6
                   and (trace.stats.station, trace.stats.channel) == (name, letter) and trace.stats.starttime.timestamp == 0,
                   f"ObsPy reads {trace.stats.npts} samples of {trace.stats.station}, {trace.stats.channel}")
            azimuth, inclination = trace.stats.sac.cmpaz, trace.stats.sac.cmpinc
            expect((azimuth, inclination) == ((0, 90), (90, 90), (0, 180))[axis], f"directed {azimuth}, {inclination} degrees")
            far = max(abs(a - row[axis + 1]) for a, row in zip(trace.data.tolist(), motion))
            expect(far <= 1e-6 * max(abs(row[axis + 1]) for row in motion), f"which are those of the columns, to {far:.1e} m")


def misfit(found, reference):
    """Relative L2 norm, at the times of the reference; `found` is evenly spaced from 0."""
    squares = norm = 0
    for sample, (time, value) in zip(found, reference):
        squares += (sample - value) ** 2
        norm += value**2
    return (squares / norm) ** 0.5


def report_loh1(name, times, traces, most):
    rows = columns(REFERENCE)
    expect(abs(times[1] - times[0] - 0.01) < 1e-9, f"{name}'s samples are 0.01 s apart")
    for k, what in enumerate(("radial", "transverse", "vertical")):
        found = misfit(traces[k], [(row[0], row[k + 1]) for row in rows])
        expect(found < most, f"{name}'s {what} motion of LOH.1 differs from the reference by {100 * found:.2f} %")


def loh1_by_pyprop8():
    """As the columns of the reference: radial, transverse, vertical (down), of a Gaussian moment of 1e18 N m."""
    pyprop8, numpy = module("pyprop8"), module("numpy")
    if not pyprop8 or not numpy:
        return
    model = pyprop8.LayeredStructureModel([(1, 4, 2, 2.6), (numpy.inf, 6, 3.464, 2.7)])
    moment = numpy.zeros((3, 3))
    moment[0, 1] = moment[1, 0] = 1
    source = pyprop8.PointSource(0, 0, 2, moment, numpy.zeros((3, 1)), 0)
    station = pyprop8.ListOfReceivers(numpy.array([6.0]), numpy.array([8.0]), 0)

    def gaussian(w):
        return 1j * w * numpy.exp(-((w * 0.06) ** 2) / 2 - 1j * w * 0.36)  # of the moment's rate

    times, motion = pyprop8.compute_seismograms(model, source, station, 920, 0.01, source_time_function=gaussian,
                                                stencil_kwargs={"kmin": 0, "kmax": 40, "nk": 1600})
    x, y, up = (numpy.asarray(motion).reshape(3, -1) * 1e3)
    report_loh1("pyprop8", times, (0.6 * x + 0.8 * y, -0.8 * x + 0.6 * y, -up), 0.002)


def loh1_by_pygrt():
    """Its seismograms are those of an impulse in time, in cm, of a moment in dyne cm."""
    pygrt, obspy, numpy = module("pygrt"), module("obspy"), module("numpy")
    if not pygrt or not obspy or not numpy:
        return
    with open("loh1.model", "w") as file:
        file.write("1 4 2 2.6\n0 6 3.464 2.7\n")
    model = pygrt.PyModel1D(modelpath="loh1.model", grn="green")
    model.greenfn(depsrc=2.0, deprcv=0.0, dists=10.0, nt=2048, dt=0.01, keepAllFreq=True, print_log=False)
    model.syn(depsrc=2.0, deprcv=0.0, dist=10.0, azimuth=math.degrees(math.atan2(8, 6)), output_path="grt", scale=1e25,
              moment_tensor=(0, 1, 0, 0, 0, 0), zne=True)
    times = numpy.arange(920) * 0.01
    pulse = numpy.exp(-(((times - 0.36) / 0.06) ** 2) / 2) / (0.06 * math.sqrt(2 * math.pi))
    found = {trace.stats.channel[-1]: numpy.convolve(trace.data, pulse)[:920] * 0.01 / 100 for trace in obspy.read("grt/?.sac")}
    x, y, up = (found[letter] for letter in "NEZ")
    report_loh1("pygrt", times, (0.6 * x + 0.8 * y, -0.8 * x + 0.6 * y, -up), 0.015)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("basin.toml", "w") as file:
        file.write(BASIN)
    snapshots()
    animation()
    seismograms()
    loh1_by_pyprop8()
    loh1_by_pygrt()
    os.chdir("/")
sys.exit(1 if FAILURES else 0)
