"""One realistic file for each language, written for these tests, and small repositories made of such files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cogworks.domain_services.messages import Repository, Request
from cogworks.grammars.gathering import gather
from cogworks.services.command.grammars.code import Reading
from cogworks.services.command.grammars.operations import METHODS

TYPESCRIPT = """\
import { Injectable, type Money as Cash } from "@nest/common";
import * as tax from "./tax";
import def, { rate } from "../rates";
export * from "./errors";
export { Tax as Vat } from "./tax";

/** Everything a customer wants. */
@Injectable()
export class Cart<T extends Item = Item> extends Base<T> implements Sized, Iterable<T> {
  #secret = 1;
  private readonly lines: T[] = [];
  static empty(): Cart<never> { return new Cart(); }
  constructor(private readonly store: Store, size?: number) { super(); }
  async add(item: T, count = 1, ...rest: string[]): Promise<void> {
    this.lines.push(item);
    await tax.apply(item);
  }
  private hidden() {}
  total = (x: number): number => x * rate;
  get size(): number { return this.lines.length; }
}

export interface Item { readonly name: string; price(): number }
export type Pair<A, B = A> = readonly [A, B];
export enum Colour { Red = "r", Green = "g" }
export const enum Flag { On }
export abstract class Base<T> { abstract run(): T; }
const local = 3;
export const half = (x: number) => x / 2;
export function over(a: string): void;
export function over(a: number): void;
export function over(a: unknown): void {}
export default function main() { over(half(2)); }
namespace Inner.Deep { export function deep() {} }
declare module "ext" { function outer(): void; }
const config = { a: 1 } satisfies Record<string, number>;
export const guard = <const T,>(x: T): x is T => true;
let x = config?.a ?? local!;
"""
TSX = """\
import React, { useState } from 'react';
type Props = { title: string };
export const Card: React.FC<Props> = ({ title }) => {
  const [open, setOpen] = useState<boolean>(false);
  const onClick = () => setOpen(!open);
  return <Panel onClick={onClick}>{open && <Title text={title} />}<></></Panel>;
};
export default React.memo(Card);
export const Fancy = React.forwardRef<HTMLDivElement, Props>((props, ref) => <div ref={ref} {...props} />);
"""
JAVASCRIPT = """\
'use strict';
const { join } = require('path');
const cart = require('./cart');
class Cart extends cart.Base { static #n = 0; total = () => 1; *walk() { yield 1; } async load() { await import('./lazy.js'); } }
function free(a, b = 2, ...rest) { return join(a, b); }
exports.helper = function helper() { return free(1); };
module.exports = { free, Cart };
"""
JAVASCRIPT_TEST = """\
import { free } from '../src/free.js';
describe('cart', () => {
  beforeEach(() => {});
  it('adds an item', async () => { free(); });
  test.only(`says "no"`, () => {});
  describe('empty', function () { it('is free', () => {}); });
});
"""
GO = """\
// Package shop sells.
package shop

import (
\t"fmt"
\tstr "strings"
\t. "example.com/shop/internal/tax"
)

// Limit is how much fits.
const (
\tLimit = 3
\tother
)

var Default = New[int]()

// Cart holds items.
// They are ordered.
type Cart[T any] struct {
\tBase
\t*Log
\titems []T `json:"items"`
}

type Sized interface {
\tLen() int
\tfmt.Stringer
}
type ID = string
type Number interface{ ~int | ~float64 }

// Add puts an item in.
func (c *Cart[T]) Add(item T, rest ...int) (n int, err error) {
\tc.check(item)
\treturn fmt.Println(str.ToUpper("a"))
}
func (c Cart[T]) check(a, b T) {}
func New[T any]() *Cart[T] { return &Cart[T]{} }
func init() { go func() { defer New[int]().Add(1) }() }
"""
GO_TEST = """\
package shop

import "testing"

func TestAdd(t *testing.T) { t.Run("sub", func(t *testing.T) { New[int]() }) }
func Testify() {}
func BenchmarkAdd(b *testing.B) {}
func helper() {}
"""
RUST = """\
//! A shop.
use crate::tax::{self, Rate as R, deep::{A, B}};
pub use self::inner::*;
mod tax;

/// Items that were chosen.
#[derive(Debug, Clone)]
pub struct Cart<'a, T: Clone> where T: Send { items: &'a [T] }
pub enum Kind { One, Two(i32), Three { x: u8 } }
pub trait Sized: Clone { const N: usize; fn len(&self) -> usize; fn is_empty(&self) -> bool { self.len() == 0 } }
impl<'a, T: Clone + Send> Cart<'a, T> {
    pub const MAX: usize = 3;
    /// Puts one in.
    pub async fn add(&mut self, item: T, n: u32) -> Result<(), Box<dyn Error>> { check(n)?; Self::other(); Ok(()) }
    fn other() {}
}
impl<'a, T: Clone + Send> Default for Cart<'a, T> { fn default() -> Self { todo!() } }
macro_rules! shout { ($($x:expr),*) => { $(println!("{}", $x);)* }; }
pub(crate) fn check(n: u32) -> Option<u32> { let Some(x) = maybe() else { return None }; shout!(x); Some(x) }
pub mod inner { pub static NAME: &str = "x"; pub unsafe extern "C" fn raw() {} }
pub type Pair = (i32, i32);
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { check(1); }
    #[tokio::test(flavor = "multi_thread")]
    async fn waits() {}
    fn given() {}
}
"""
JAVA = """\
package com.shop;

import java.util.List;
import static com.shop.tax.Tax.rate;
import com.shop.tax.*;

/** What was chosen. */
@Entity(name = "cart")
public sealed class Cart<T extends Item> extends Base<T> implements Sized, Iterable<T> permits Big {
    public static final int MAX = 3;
    private List<T> items;
    public Cart(List<T> items) { this.items = items; }
    public Cart() { this(List.of()); }
    /** Puts one in. */
    @Override
    public <R> R add(final T item, String... names) throws Exception {
        helper(item);
        return switch (item) { case Big b when b.size() > 1 -> null; case null, default -> new Holder<R>().get(); };
    }
    private void helper(T item) { Runnable r = () -> items.forEach(System.out::println); }
    public record Line(int price, String name) { public Line { if (price < 0) throw new Error(); } }
    enum Kind { A { @Override int n() { return 1; } }, B; int n() { return 0; } }
    @interface Mark { String value() default ""; }
    interface Inner { default void f() {} int g(); }
    static class Holder<X> { X get() { return null; } }
    String text = \"\"\"
        hello
        \"\"\";
}
"""
JAVA_TEST = """\
package com.shop;
import org.junit.jupiter.api.*;
class CartTest {
    @Test
    @DisplayName("adds")
    void adds() { new Cart().add(null); }
    @ParameterizedTest @ValueSource(ints = {1}) void many(int n) {}
    @Nested class Empty { @Test void isEmpty() {} }
    void helper() {}
}
"""
C = """\
#include "cart.h"
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LIMIT 3
typedef struct cart { int n; } cart_t;
typedef int (*compare)(const void *, const void *);
enum kind { ONE, TWO };
static int hidden(int a);
int counter = 0;

/* Puts one in. */
int cart_add(struct cart *c, int item, ...) {
    c->n = MAX(c->n, item);
    return hidden(c->n);
}
static int hidden(int a) { return a; }
char **names(void) { return 0; }
int old(a, b) int a; char *b; { return a; }
#ifdef _WIN32
void plat(void) {}
#else
void plat(void) { printf("x"); }
#endif
"""
CPP = """\
#pragma once
#include "base.hpp"
namespace shop::detail {
template <typename T> concept Number = requires(T t) { t + t; };
/// What was chosen.
template <typename T, int N = 3>
class Cart final : public Base<T>, private Sized {
public:
    explicit Cart(int size = 0) : size_{size} {}
    virtual ~Cart() = default;
    Cart& operator+=(const T& item);
    [[nodiscard]] auto size() const noexcept -> int { return size_; }
    template <typename... Args> void emplace(Args&&... args) { helper(std::forward<Args>(args)...); }
private:
    void helper();
    int size_;
    struct Inner { void f(); };
};
enum class Colour : int { Red };
using Ints = Cart<int>;
inline constexpr int Max = 3;
}
template <typename T, int N> void shop::detail::Cart<T, N>::helper() { auto f = [this](auto x) mutable { return x; }; f(1); }
bool operator==(const A& a, const A& b) { return a.x == b.x; }
int main(int argc, char** argv) { shop::detail::Cart<int> c{1}; c.size(); return make<int>(1); }
"""
C_SHARP = """\
using System;
using static System.Math;
using Col = System.Collections.Generic;
namespace Shop.Carts;

/// <summary>What was chosen.</summary>
[Serializable]
public partial class Cart<T> : Base<T>, ISized where T : class, new()
{
    public const int Max = 3;
    private readonly List<T> items = new();
    public int Count { get; init; }
    public string Name => $"{items.Count} items";
    public Cart(int size) : base(size) { }
    public async Task<int> AddAsync(T item, int n = 1, params string[] rest) { Check(item); return await other.Run<int>(n); }
    private static void Check(T? item) => ArgumentNullException.ThrowIfNull(item);
    public static bool operator ==(Cart<T> a, Cart<T> b) => true;
    public record Line(int Price, string Name);
    public enum Kind { A, B = 2 }
    public interface IInner { void F(); }
    [Fact]
    public void Adds() { var x = items is [var first, ..] ? first : null; }
}
public record struct Point(int X, int Y);
public delegate void Changed(object sender);
"""
RUBY = """\
# frozen_string_literal: true
require 'json'
require_relative 'tax'

module Shop
  # What was chosen.
  class Cart < Base
    include Comparable
    LIMIT = 3
    attr_reader :items

    def initialize(items = [], *rest, key:, opt: 1, **more, &block)
      @items = items
    end

    def self.empty = new(key: 1)

    class << self
      def other; end
    end

    def add(item)
      check(item)
      @items << item
    end

    def <=>(other) = 0

    private

    def check(item)
      raise ArgumentError unless item in {name: String}
    end
  end
end
"""
RUBY_TEST = """\
require 'spec_helper'
RSpec.describe Shop::Cart do
  context 'when empty' do
    it 'has no items' do
      expect(Shop::Cart.empty.items).to be_empty
    end
  end
end
class CartTest < Minitest::Test
  def test_adds; end
end
"""
PHP = """\
<?php
declare(strict_types=1);
namespace Shop\\Carts;

use Shop\\Tax\\{Rate, Vat as V};
use function Shop\\helper;
require_once __DIR__ . '/boot.php';

/** What was chosen. */
#[Entity]
final class Cart extends Base implements Sized
{
    use Counts;
    public const int LIMIT = 3;
    public function __construct(private readonly array $items = [], ?Rate $rate = null) { parent::__construct(); }
    public static function empty(): static { return new static(); }
    public function add(Item|string $item, int ...$rest): self { $this->check($item); helper($item); $item?->touch(); return $this; }
    private function check($item): void { $f = fn($x) => $x |> trim(...); }
}
interface Sized extends \\Countable { public function size(): int; }
trait Counts { protected int $n = 0; }
enum Kind: string { case A = 'a'; public function label(): string { return match($this) { self::A => 'A' }; } }
function free(int $a = 1) { return Cart::empty()->add('x'); }
""".replace(" |> trim(...)", "")
PHP_TEST = """\
<?php
namespace Shop\\Tests;
class CartTest extends TestCase
{
    public function testAdds(): void {}
    #[Test]
    public function it_is_empty(): void {}
    private function helper(): void {}
}
"""
FILES: Mapping[str, str] = {
    "web/cart.ts": TYPESCRIPT,
    "web/card.tsx": TSX,
    "web/old.js": JAVASCRIPT,
    "web/__tests__/old.spec.js": JAVASCRIPT_TEST,
    "shop/cart.go": GO,
    "shop/cart_test.go": GO_TEST,
    "src/lib.rs": RUST,
    "src/main/java/com/shop/Cart.java": JAVA,
    "src/test/java/com/shop/CartTest.java": JAVA_TEST,
    "native/cart.c": C,
    "native/cart.hpp": CPP,
    "net/Cart.cs": C_SHARP,
    "lib/shop/cart.rb": RUBY,
    "spec/cart_spec.rb": RUBY_TEST,
    "php/Cart.php": PHP,
    "php/tests/CartTest.php": PHP_TEST,
}


class Machine:
    """What operations are lent here."""

    source_facts: Reading = staticmethod(gather)
    patterns = ()


def repository(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """The files below a folder."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def ask(method: str, folder: Path, root: str = "", **params: object) -> dict[str, Any]:
    """The answer to one request, as it travels."""
    request = Request(
        request_id="1", method=method, repository=Repository(path=str(folder), root=root), params=params
    )
    return METHODS[method](request, folder, Machine()).model_dump(mode="json")
