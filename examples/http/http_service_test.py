#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""http_service_test.py COMMAND...: starts the service, speaks to it as its clients would, and asks it to stop."""
import concurrent.futures
import signal
import subprocess
import sys
import urllib.error
import urllib.request

CLIENTS = 4
REQUESTS = 100  # of each client


def ask(url, body=None):
    """The status and the text of the answer."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, body) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def expect(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r} instead of {wanted!r}")


def count(base, client):
    names = [f"{base}/counters/{name}" for name in ("own" + "abcdefgh"[client], "shared")]
    for number in range(1, REQUESTS + 1):
        expect(ask(names[0], b"2"), (200, f"{2 * number}\n"), "each client sees its own counter grow")
        expect(ask(names[1], b"1")[0], 200, "all clients add to one counter")


def speak_to(base):
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        for each in [clients.submit(count, base, client) for client in range(CLIENTS)]:
            each.result()
    expect(ask(f"{base}/counters/shared"), (200, f"{CLIENTS * REQUESTS}\n"), "no request is lost")
    expect(ask(f"{base}/counters/fresh"), (200, "0\n"), "a counter begins with 0")
    expect(ask(f"{base}/counters/shared", b"many")[0], 400, "no number")
    expect(ask(f"{base}/elsewhere")[0], 404, "no such page")


def stop_while_it_answers(base, service):
    with concurrent.futures.ThreadPoolExecutor(1) as client:
        slow = client.submit(ask, f"{base}/nap/2")
        while ask(f"{base}/waiting") == (200, "0\n") and not slow.done():
            pass
        service.send_signal(signal.SIGTERM)
        status, text = slow.result()
    expect((status, text.endswith(" has slept\n")), (200, True), "a request that is being answered gets its answer")


def main():
    service = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    try:
        first = service.stdout.readline()
        expect(first.startswith("http://127.0.0.1:"), True, f"the line {first!r} has the address")
        base = first.removesuffix("/counters/NAME\n")
        speak_to(base)
        stop_while_it_answers(base, service)
        rest = service.stdout.read()
        expect(service.wait(), 0, "the exit code after SIGTERM")
        answered = 2 * CLIENTS * REQUESTS + 3
        expect(f"answered {answered} requests\n" in rest, True, f"{answered} requests in {rest!r}")
    finally:
        service.kill()
        service.wait()


if __name__ == "__main__":
    main()
