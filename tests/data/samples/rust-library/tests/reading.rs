use price_list::{parsing::parse, total};

#[test]
fn reads_and_adds() {
    let prices: Vec<i64> = ["1.50", "2"].iter().map(|each| parse(each).unwrap()).collect();
    assert_eq!(total(&prices), 350);
}
