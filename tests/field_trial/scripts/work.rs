use std::collections::HashMap;
use std::fmt::Debug;
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Tree<T> { Leaf(T), Node(Box<Tree<T>>, Box<Tree<T>>), Map(Vec<(String, T)>) }
trait Step { fn step(&self, n: u32) -> u64; }
impl<T: Debug + Clone + Ord + std::hash::Hash> Step for Tree<T> {
    fn step(&self, n: u32) -> u64 {
        let mut seen: HashMap<Tree<T>, usize> = HashMap::new();
        seen.insert(self.clone(), n as usize);
        match self {
            Tree::Leaf(x) => format!("{:?}", x).len() as u64,
            Tree::Node(a, b) => a.step(n + 1) + b.step(n + 1),
            Tree::Map(all) => all.iter().map(|(k, v)| k.len() as u64 + format!("{:#?}", v).len() as u64).sum(),
        }
    }
}
macro_rules! many { ($($t:ty),*) => { fn all() -> u64 { let mut sum = 0; $( sum += {
    let x: $t = Default::default();
    Tree::Node(Box::new(Tree::Leaf((x, 1u8))), Box::new(Tree::Map(vec![("a".to_string(), (x, 2u8))]))).step(0)
        + Tree::Leaf([x; 3]).step(1) + Tree::Leaf(Some(vec![x])).step(2) }; )* sum } } }
many!(u8, u16, u32, u64, i8, i16, i32, i64, usize, isize, char, bool, (u8, u8), (u8, i8), (u16, bool), (char, u8), u128, i128);
fn main() { println!("{}", all()); }
