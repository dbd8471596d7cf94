import sys

sys.path.insert(0, "tests/transcript")

import decisions

for part, make in decisions.PARTS.items():
    if len(sys.argv) > 1 and not any(part.startswith(a) for a in sys.argv[1:]):
        continue
    print("=" * 10, part)
    for heading, d in make():
        print("##", heading)
        print(d.explain())
        print()
