"""Repositories of other languages, each with an issue and what a model answers to it."""

from pathlib import Path
from typing import Any, NamedTuple

from tests.end_to_end.test_example_pipelines import PASSED, classified

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
DEBIANS_PACKAGES = 'environment = { mode = "prepared", variables = { MAVEN_OPTS = "-Dmaven.repo.local=/usr/share/maven-repo" } }\n'
"""What makes Maven use the packages of Debian, which are of the system and so seen behind walls."""

_PACKAGES = "/usr/share/maven-repo"
JUNIT_5 = tuple(
    f"{_PACKAGES}/org/{name}"
    for name in (
        "junit/jupiter/junit-jupiter/5.9.2",
        "apache/maven/plugins/maven-compiler-plugin",
        "apache/maven/plugins/maven-resources-plugin",
        "apache/maven/surefire/surefire-junit-platform",
    )
)
"""`apt install maven junit5 libsurefire-java libmaven-compiler-plugin-java libmaven-resources-plugin-java`."""
MODULES_JUNIT_4 = tuple(
    f"{_PACKAGES}/{name}"
    for name in (
        "junit/junit/4.x",
        "org/apache/maven/surefire/surefire-junit4",
        "org/apache/maven/plugins/maven-compiler-plugin",
    )
)
JUNIT_4 = (f"{_PACKAGES}/junit/junit/4.x",)
"""`apt install gradle junit4`."""


class Played(NamedTuple):
    """A sample, what its model answers and what follows."""

    sample: str
    code: str
    edit: tuple[str, str]
    test: str
    test_text: str
    names: tuple[str, ...]
    """Of the new tests."""
    configuration: str = ""
    """Lines of `.cogworks/config.toml`; empty: nothing is configured."""

    @property
    def ids(self) -> list[str]:
        return [f"{self.test}::{name}" for name in self.names]


GO = Played(
    "go",
    "prices/prices.go",
    ("\t\tsum += each\n", "\t\tif each > 0 {\n\t\t\tsum += each\n\t\t}\n"),
    "prices/negative_test.go",
    """package prices

import "testing"

func TestTotalLeavesOutWhatIsBelowZero(t *testing.T) {
	if got := Total(5, -3); got != 5 {
		t.Errorf("Total(5, -3) = %d", got)
	}
}
""",
    ("TestTotalLeavesOutWhatIsBelowZero",),
)
JAVASCRIPT = Played(
    "javascript",
    "src/prices.js",
    ("sum + each", "sum + Math.max(each, 0)"),
    "test/negative.test.js",
    """import assert from "node:assert/strict";
import { test } from "node:test";

import { total } from "../src/prices.js";

test("leaves out what is below zero", () => assert.equal(total(5, -3), 5));
""",
    ("leaves out what is below zero",),
)
RUST = Played(
    "rust",
    "src/prices.rs",
    ("cents.iter().sum()", "cents.iter().filter(|each| **each > 0).sum()"),
    "tests/negative.rs",
    """use my_shop::prices::total;

#[test]
fn leaves_out_what_is_below_zero() {
    assert_eq!(total(&[5, -3]), 5);
}
""",
    ("leaves_out_what_is_below_zero",),
)
VITEST = Played(
    "vitest",
    "src/price.ts",
    ("line.cents * line.count", "line.cents * Math.max(line.count, 0)"),
    "test/negative.test.ts",
    """import { describe, expect, it } from "vitest";

import { lineTotal, type Line } from "../src";

describe("a line", () => {
  it.each([-1, -20])("of %i pieces costs nothing", (count: number) => {
    const line: Line = { name: "tea", cents: 5, count };
    expect(Math.abs(lineTotal(line))).toBe(0);
  });
});
""",
    ("a line > of -1 pieces costs nothing", "a line > of -20 pieces costs nothing"),
)
BUILT = Played(
    "node-built",
    "src/postage.ts",
    ("Math.floor(", "Math.ceil("),
    "test/started.test.ts",
    """import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { postage } from "../src/index.js";

describe("a started kilogram", () => {
  it("counts whole", () => assert.equal(postage(1001, { base: 300, perKilogram: 50 }), 400));
});
""",
    ("a started kilogram > counts whole",),
)
JEST = Played(
    "jest",
    "lib/slug.js",
    ('replace(SEPARATORS, "-")', 'replace(SEPARATORS, "-").replace(/^-|-$/g, "")'),
    "__tests__/ends.test.js",
    """"use strict";

const { slug } = require("../lib");

describe("the ends of a slug", () => {
  it("are letters or digits (not dashes)", () => {
    expect(slug("Tea, please!")).toBe("tea-please");
  });
});
""",
    ("the ends of a slug > are letters or digits (not dashes)",),
)
MOCHA = Played(
    "mocha",
    "lib/minutes.js",
    (
        "  return 60 *",
        "  if (Number(found[2]) > 59) throw new RangeError(`not a time of day: ${text}`);\n  return 60 *",
    ),
    "test/limits.spec.js",
    """"use strict";

const assert = require("node:assert/strict");

const { minutes } = require("../lib");

describe("the limits of a time of day", () => {
  for (const text of ["9:60", "9:99"]) {
    it(`leave out ${text}`, () => assert.throws(() => minutes(text), RangeError));
  }
});
""",
    (
        "the limits of a time of day > leave out 9:60",
        "the limits of a time of day > leave out 9:99",
    ),
)
JASMINE = Played(
    "jasmine",
    "src/sorting.js",
    ('localeCompare(other, "en")', 'localeCompare(other, "en", { numeric: true })'),
    "spec/numbersSpec.js",
    """import { Shelf, sorted } from "../src/index.js";

describe("numbers in titles", () => {
  it("count as numbers", () => expect(sorted(["Part 10", "Part 9"])).toEqual(["Part 9", "Part 10"]));

  describe("on a shelf", () => {
    it("do so too (IX)", () => {
      const shelf = new Shelf(2);
      ["Part 10", "Part 9"].forEach((each) => shelf.put(each));
      expect(shelf.titles[0]).toBe("Part 9");
    });
  });
});
""",
    ("numbers in titles > count as numbers", "numbers in titles > on a shelf > do so too (IX)"),
)
TAPE = Played(
    "tape",
    "lib/width.js",
    ("[...text].length", '[...text.normalize("NFC")].length'),
    "test/marks.js",
    """"use strict";

const test = require("tape");

const { table, width } = require("..");

test("a mark over a letter", (t) => {
  t.test("takes no column", (st) => {
    st.equal(width("e\\u0301"), 1);
    st.end();
  });
  t.end();
});

test("rows with marks stand below others", (t) => {
  t.plan(1);
  t.deepEqual(table([["e\\u0301", "x"], ["e", "y"]]), ["e\\u0301  x", "e  y"]);
});
""",
    ("a mark over a letter > takes no column", "rows with marks stand below others"),
)
WORKSPACES = Played(
    "node-workspaces",
    "packages/money/src/index.js",
    ('text.split(".")', "text.split(/[.,]/)"),
    "packages/money/test/comma.test.mjs",
    """import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parse } from "../src/index.js";

describe("a comma", () => {
  it("stands for a point", () => assert.equal(parse("1,5"), 150));
});
""",
    ("a comma > stands for a point",),
)
GO_PACKAGES = Played(
    "go-packages",
    "money/money.go",
    ('strings.Cut(text, ".")', 'strings.Cut(strings.Replace(text, ",", ".", 1), ".")'),
    "money/comma_test.go",
    """package money_test

import (
	"testing"

	"example.org/shop/money"
)

func TestComma(t *testing.T) {
	for text, want := range map[string]money.Cents{"1,5": 150} {
		t.Run(text, func(t *testing.T) {
			if got, err := money.Parse(text); err != nil || got != want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
""",
    ("TestComma", "TestComma/1,5"),
)
GO_COMMAND = Played(
    "go-command",
    "internal/prices/prices.go",
    ("\t\tsum += each\n", "\t\tif each > 0 {\n\t\t\tsum += each\n\t\t}\n"),
    "internal/prices/negative_test.go",
    """package prices

import "testing"

func TestSumLeavesOutWhatIsBelowZero(t *testing.T) {
	if got := Sum(5, -3); got != 5 {
		t.Errorf("got %d", got)
	}
}
""",
    ("TestSumLeavesOutWhatIsBelowZero",),
)
RUST_LIBRARY = Played(
    "rust-library",
    "src/parsing.rs",
    ("    if text.is_empty()", "    let text = text.trim();\n    if text.is_empty()"),
    "tests/spaces.rs",
    """use price_list::parsing::{parse, Unreadable};

#[test]
fn spaces_do_not_count() {
    assert_eq!(parse(" 1.50 "), Ok(150));
}

#[test]
fn spaces_alone_are_empty() {
    assert_eq!(parse("  "), Err(Unreadable::Empty));
}
""",
    ("spaces_alone_are_empty", "spaces_do_not_count"),
)
RUST_WORKSPACE = Played(
    "rust-workspace",
    "basket/src/discount.rs",
    ("price.0 * percent / 100", "price.0 * percent.clamp(0, 100) / 100"),
    "basket/tests/limits.rs",
    """use basket::discount::discounted;
use money::Cents;

#[test]
fn nothing_costs_less_than_nothing() {
    assert_eq!(discounted(Cents(200), 150), Cents(0));
}
""",
    ("nothing_costs_less_than_nothing",),
)
_JAVA = "src/main/java/org/example/shop/Price.java"
_JAVA_TEST = "src/test/java/org/example/shop/CommaTest.java"
_COMMA = (r'text.split("\\.", 2)', 'text.split("[.,]", 2)')
MAVEN = Played(
    "maven",
    _JAVA,
    _COMMA,
    _JAVA_TEST,
    """package org.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CommaTest {
    @Test
    void standsForAPoint() {
        assertEquals(150, Price.parse("1,5").cents());
    }
}
""",
    ("standsForAPoint",),
    DEBIANS_PACKAGES,
)
MODULES = Played(
    "maven-modules",
    "invoice/src/main/java/org/example/invoice/Invoice.java",
    (
        "        items.add(cents);\n",
        '        if (cents < 0) {\n            throw new IllegalArgumentException("an item of " + cents);\n        }\n        items.add(cents);\n',
    ),
    "invoice/src/test/java/org/example/invoice/NegativeTest.java",
    """package org.example.invoice;

import org.example.amounts.Tax;
import org.junit.Test;

public class NegativeTest {
    @Test(expected = IllegalArgumentException.class)
    public void isNoItem() {
        new Invoice(new Tax(7)).with(-1);
    }
}
""",
    ("isNoItem",),
    DEBIANS_PACKAGES,
)
GRADLE = Played(
    "gradle",
    _JAVA,
    _COMMA,
    _JAVA_TEST,
    """package org.example.shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class CommaTest {
    @Test
    public void standsForAPoint() {
        assertEquals(150, Price.parse("1,5").cents());
    }
}
""",
    ("standsForAPoint",),
    'environment = "prepared"\n',
)


def replies_of(played: Played) -> tuple[dict[str, Any], ...]:
    """What the model answers, in order."""
    before = (SAMPLES / played.sample / played.code).read_text("utf-8")
    after = before.replace(*played.edit)
    assert after != before
    task = {
        "key": "A",
        "title": "Read and count prices as people mean them",
        "description": "Prices are read and counted as people mean them (R1).",
        "files": [played.code, played.test],
        "interfaces": [],
        "test_specification": f"What people mean, in {played.test}",
        "acceptance_criteria": ["prices are as people mean them"],
        "depends_on": [],
    }
    specified = {"title": task["title"], "markdown": "# Prices\n\n- **R1** Prices are as people mean them.\n"}
    tests = {
        "test_path": played.test,
        "extra_paths": [],
        "files": [{"path": played.test, "action": "create", "content": played.test_text}],
        "notes": "",
        "missing_capability": "",
    }
    made = {
        "summary": "Read and count prices as people mean them",
        "files": [{"path": played.code, "action": "modify", "content": after}],
        "notes": "",
        "test_dispute": {"test_id": "", "reason": ""},
        "missing_capability": "",
    }
    intake = {**classified(), "affected_modules": [played.code], "language": played.sample}
    return (intake, specified, {"sub_work_items": [task]}, tests, made, PASSED, PASSED, PASSED)


RUST_INLINE = Played(
    "rust",
    "src/prices.rs",
    ("cents.iter().sum()", "cents.iter().filter(|each| **each > 0).sum()"),
    "src/prices.rs",
    """
    #[test]
    fn leaves_out_what_is_below_zero() {
        assert_eq!(total(&[5, -3]), 5);
    }
}
""",
    ("prices::tests::leaves_out_what_is_below_zero",),
)
"""The tests stand in the file of the code."""
RUST_INLINE_NEW = RUST_INLINE._replace(
    edit=(
        "#[cfg(test)]",
        "/// The dearest price.\npub fn dearest(cents: &[i64]) -> Option<i64> {\n    cents.iter().copied().max()\n}\n\n#[cfg(test)]",
    ),
    test_text="""
    #[test]
    fn finds_the_dearest() {
        assert_eq!(dearest(&[5, 7]), Some(7));
    }
}
""",
    names=("prices::tests::finds_the_dearest",),
)
"""… of what is still to be written, so that they cannot be compiled without it."""


def replies_with_tests_in_code(played: Played) -> tuple[dict[str, Any], ...]:
    """What the model answers, in order, where nobody writes tests before the code."""
    intake, specified, plan, _, made, *reviews = replies_of(played)
    [task], [file] = plan["sub_work_items"], made["files"]
    coded = {
        "summary": made["summary"],
        "files": [{**file, "content": f"{file['content'].removesuffix('}' + chr(10))}{played.test_text}"}],
        "tests": [played.test],
        "notes": "",
        "missing_capability": "",
    }
    return (intake, specified, {"sub_work_items": [{**task, "files": [played.code]}]}, coded, *reviews)
