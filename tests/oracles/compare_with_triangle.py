# SPDX-License-Identifier: Apache-2.0
"""Compares triangulations of mesh2d with those of Shewchuk's Triangle.

For each FILE.poly in a folder FILE.triangles has the corners of the triangles of mesh2d. Edges that only one of the two
has must be diagonals of four points on one circle, by exact arithmetic; or those of Triangle must not be Delaunay, which
happens where four points are nearly on one circle. Triangle runs in child processes, since it ends its process when it
gives up."""
import collections
import fractions
import os
import pathlib
import sys

import numpy
import triangle


def read_poly(path):
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    rows = iter(lines)
    count = int(next(rows)[0])
    points = [next(rows) for _ in range(count)]
    first = int(points[0][0])
    given = {"vertices": numpy.array([[float(x) for x in row[1:3]] for row in points])}
    count = int(next(rows)[0])
    given["segments"] = numpy.array([[int(v) - first for v in next(rows)[1:3]] for _ in range(count)], dtype=numpy.int32)
    count = int(next(rows)[0])
    holes = [[float(x) for x in next(rows)[1:3]] for _ in range(count)]
    if holes:
        given["holes"] = numpy.array(holes)
    return given


def edges_of(triangles):
    edges = collections.defaultdict(list)
    for corners in triangles:
        for k in range(3):
            edges[frozenset((corners[k - 1], corners[k - 2]))].append(corners[k])
    return edges


def turn(a, b, c):
    (ax, ay), (bx, by), (cx, cy) = [[fractions.Fraction(x) for x in point] for point in (a, b, c)]
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def in_circle(ends, apexes):
    """Positive if one apex lies in the circle through the ends and the other apex; 0 on it. Exact."""
    rows = []
    first, second = ends
    x, y = (fractions.Fraction(each) for each in apexes[1])
    for point in (first, second, apexes[0]):
        u, v = fractions.Fraction(point[0]) - x, fractions.Fraction(point[1]) - y
        rows.append((u, v, u * u + v * v))
    a, b, c = rows
    value = (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
             + a[2] * (b[0] * c[1] - b[1] * c[0]))
    return value if turn(first, second, apexes[0]) > 0 else -value


def difference(path):
    """A line about the first difference, empty if there is none; and whether an edge of Triangle is not Delaunay."""
    given = read_poly(path)
    made = triangle.triangulate(given, "pQ")
    places = [tuple(each) for each in made["vertices"].tolist()]
    theirs = edges_of([tuple(places[v] for v in each) for each in made["triangles"].tolist()])
    text = path.with_suffix(".triangles").read_text()
    numbers = [[float(x) for x in line.split()] for line in text.splitlines()]
    mine = edges_of([((n[0], n[1]), (n[2], n[3]), (n[4], n[5])) for n in numbers])
    if len(mine) != len(theirs):
        return f"{path.stem}: mesh2d has {len(mine)} edges, Triangle {len(theirs)}", False
    wrong = False
    for ends, apexes in theirs.items():
        if ends not in mine:
            if len(apexes) != 2:
                return f"{path.stem}: only Triangle has the edge {sorted(ends)}", False
            wrong = wrong or in_circle(ends, apexes) > 0
    for ends, apexes in mine.items():
        if ends not in theirs:
            value = in_circle(ends, apexes) if len(apexes) == 2 else 1
            if value > 0 or (value < 0 and not wrong):
                return f"{path.stem}: only mesh2d has the edge {sorted(ends)}", False
    return "", wrong


def main():
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.poly"))
    differing = not_delaunay = 0
    for path in paths:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            line, wrong = difference(path)
            if line:
                print(line, flush=True)
            os._exit(1 if line else 2 if wrong else 0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        not_delaunay += code == 2
        if code not in (0, 2):
            print(f"{path.stem}: code {code}")
            differing += 1
    print(f"{len(paths)} triangulations compared, {differing} differ; {not_delaunay} of Triangle are not Delaunay")
    return 1 if differing or not_delaunay * 100 > len(paths) else 0


if __name__ == "__main__":
    sys.exit(main())
