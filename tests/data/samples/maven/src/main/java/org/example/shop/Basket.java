package org.example.shop;

import java.util.ArrayList;
import java.util.List;

/** What somebody wants to buy. */
public class Basket {
    private final List<Price> prices = new ArrayList<>();

    public Basket add(Price price) {
        prices.add(price);
        return this;
    }

    public Price total() {
        return prices.stream().reduce(Price.of(0), Price::plus);
    }

    public int size() {
        return prices.size();
    }
}
