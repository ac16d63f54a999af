package org.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class BasketTest {
    private Basket basket;

    @BeforeEach
    void makeBasket() {
        basket = new Basket();
    }

    @Test
    void isFreeAtFirst() {
        assertEquals(0, basket.total().cents());
    }

    @Nested
    class WithPrices {
        @BeforeEach
        void fill() {
            basket.add(Price.of(150)).add(Price.of(200));
        }

        @Test
        void addsUp() {
            assertEquals(350, basket.total().cents());
        }

        @Test
        void knowsItsSize() {
            assertEquals(2, basket.size());
        }
    }
}
