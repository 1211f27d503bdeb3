#!/usr/bin/env python3
"""Compares the output of `twindex query --containment` with exact shares of shingles.

usage: containment.py ask CORPUS.jsonl NUMBER > QUESTIONS.jsonl
       containment.py cut CORPUS.jsonl NUMBER CHARACTERS > QUESTIONS.jsonl
       containment.py judge CORPUS.jsonl QUESTIONS.jsonl FOUND.tsv THRESHOLD

`ask` takes paragraphs of 300 to 3,000 characters, one of a document, from documents drawn at
random. `cut` takes excerpts of CHARACTERS characters from anywhere in documents drawn at random.
`judge` counts the shingles that each question shares with each document (char:9 of lower case, NFC
and folded white space, as sets). It prints how many of the documents that contain the threshold's
share were reported, by how much larger they are than the question, and how much of what was
reported does contain it.
"""
import collections
import json
import random
import re
import sys
import unicodedata


def read(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["id"], record["text"]


def shingles(text):
    text = " ".join(unicodedata.normalize("NFC", text.lower()).split())
    if not text:
        return set()
    return {text[i:i + 9] for i in range(max(1, len(text) - 8))}


def ask(corpus, number):
    documents = list(read(corpus))
    random.seed(1)
    random.shuffle(documents)
    asked = 0
    for name, text in documents:
        paragraphs = [p for p in re.split(r"\n\s*\n", text) if 300 <= len(p) <= 3000]
        if paragraphs and asked < int(number):
            asked += 1
            text = random.choice(paragraphs)
            print(json.dumps({"id": f"question {asked}: {name}", "text": text}))


def cut(corpus, number, characters):
    number, characters = int(number), int(characters)
    documents = list(read(corpus))
    random.seed(1)
    random.shuffle(documents)
    asked = 0
    for name, text in documents:
        if asked == number:
            break
        if len(text) <= characters:
            continue
        start = random.randrange(len(text) - characters)
        excerpt = text[start:start + characters]
        # White space is folded, and an excerpt of little else has few shingles.
        if len(" ".join(excerpt.split())) >= 0.8 * characters:
            asked += 1
            print(json.dumps({"id": f"question {asked}: {name}", "text": excerpt}))


def judge(corpus, questions, found, threshold):
    threshold = float(threshold)
    sizes, holders = {}, collections.defaultdict(list)
    for name, text in read(questions):
        elements = shingles(text)
        sizes[name] = len(elements)
        for element in elements:
            holders[element].append(name)
    reported = {}
    with open(found, encoding="utf-8") as lines:
        for line in lines:
            question, name, _, _, _, exact, share, low, high = line.rstrip("\n").split("\t")
            assert (question, name) not in reported, f"reported twice: {question} {name}"
            reported[question, name] = float(share), float(low), float(high), exact
    ratios = [0, 1.5, 3, 6, 12, 24, 100, 1e9]
    wanted, met = [0] * len(ratios), [0] * len(ratios)
    told, held = [0] * len(ratios), [0] * len(ratios)
    true = inside = near = 0
    vain = set(reported)
    for name, text in read(corpus):
        elements = shingles(text)
        shared = collections.Counter()
        for element in elements & holders.keys():
            shared.update(holders[element])
        for question, count in shared.items():
            share = count / sizes[question]
            got = reported.get((question, name))
            place = sum(len(elements) / sizes[question] >= ratio for ratio in ratios) - 1
            if share >= threshold:
                wanted[place] += 1
                met[place] += got is not None
            if got is not None:
                vain.discard((question, name))
                true += share >= threshold
                near += share >= threshold - 0.2
                # Printed with four digits, and sizes have an error of 0.4 %.
                holds = got[1] - 0.004 <= share <= got[2] + 0.004
                inside += holds
                told[place] += 1
                held[place] += holds
    judged = len(reported)
    inside += sum(reported[pair][1] <= 0.004 for pair in vain)
    print("times as large   contain it   reported    share   intervals that hold")
    for place, (least, most) in enumerate(zip(ratios, ratios[1:])):
        share = met[place] / max(1, wanted[place])
        sizes = f"{least:5.1f} to {min(most, 9999):6.1f}"
        print(f"{sizes} {wanted[place]:12} {met[place]:10} {share:8.4f}"
              f" {held[place]:8} of {told[place]:8} {held[place] / max(1, told[place]):8.4f}")
    print(f"in all {sum(met)} of {sum(wanted)}, {sum(met) / max(1, sum(wanted)):.4f}")
    print(f"reported {judged}, of which {true / max(1, judged):.4f} contain {threshold}, "
          f"{near / max(1, judged):.4f} contain {threshold - 0.2:.1f}")
    print(f"intervals that hold the exact share: {inside / max(1, judged):.4f}")


if len(sys.argv) == 4 and sys.argv[1] == "ask":
    ask(*sys.argv[2:])
elif len(sys.argv) == 5 and sys.argv[1] == "cut":
    cut(*sys.argv[2:])
elif len(sys.argv) == 6 and sys.argv[1] == "judge":
    judge(*sys.argv[2:])
else:
    sys.exit(__doc__)
