use basket::Basket;

fn main() {
    println!("{}", Basket::default().total());
}

#[test]
fn is_a_program() {
    main();
}
