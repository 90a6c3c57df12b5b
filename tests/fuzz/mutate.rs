//! Inputs out of seeds.

/// Pieces of text that a model, or somebody who means harm, would put in.
const DICTIONARY: [&str; 30] = [
    "\n",
    "\r\n",
    "\t",
    "    ",
    " ",
    "\u{a0}",
    "\u{201C}",
    "\u{2019}",
    "\u{FEFF}",
    "\u{1F600}",
    "@@",
    "@@ -1,2 +3,4 @@",
    "*** Begin Patch\n",
    "*** End Patch\n",
    "*** Update File: a.rs\n",
    "*** Add File: b\n",
    "*** Delete File: c\n",
    "*** Move to: d\n",
    "*** End of File\n",
    "--- a/a.rs\n",
    "+++ b/a.rs\n",
    "/dev/null",
    "\\ No newline at end of file\n",
    "-",
    "+",
    "#",
    "|",
    "18446744073709551616",
    "{",
    "\"cells\":[",
];

/// Random numbers that a seed repeats.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    /// A seed that was changed in some places; now and then much of it, or several of them in one.
    pub fn mutated(&mut self, seeds: &[&str]) -> String {
        let mut text = seeds.get(self.below(seeds.len())).copied().unwrap_or_default().to_owned();
        let most = 1 << self.below(6);
        for _ in 0..=self.below(most) {
            self.mutate(&mut text, seeds);
        }
        text
    }

    fn mutate(&mut self, text: &mut String, seeds: &[&str]) {
        let place = |random: &mut Self, text: &str| text.floor_char_boundary(random.below(text.len() + 1));
        let (a, b) = (place(self, text), place(self, text));
        let span = a.min(b)..a.max(b).min(text.ceil_char_boundary(a.min(b) + 1 + self.below(60)));
        let span = text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end.min(text.len()));
        match self.below(9) {
            0 => text.replace_range(span, ""),
            1 => {
                let copy = text.get(span).unwrap_or_default().to_owned();
                text.insert_str(a, &copy);
            }
            2 | 3 => text.insert_str(a, DICTIONARY.get(self.below(DICTIONARY.len())).copied().unwrap_or_default()),
            4 => text.truncate(a),
            5 => {
                let other = seeds.get(self.below(seeds.len())).copied().unwrap_or_default();
                let from = place(self, other);
                text.insert_str(a, other.get(from..).unwrap_or_default());
            }
            6 => {
                let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                let (i, j) = (self.below(lines.len()), self.below(lines.len()));
                if !lines.is_empty() {
                    lines.swap(i, j);
                }
                *text = lines.concat();
            }
            7 => {
                let c = char::from_u32(u32::try_from(self.below(0x300)).unwrap_or(0)).unwrap_or(' ');
                text.insert(a, c);
            }
            _ => {
                let line = text.get(span).unwrap_or_default().to_owned();
                let times = 1 << self.below(8);
                if text.len() + line.len() * times < 100_000 {
                    text.insert_str(a, &line.repeat(times));
                }
            }
        }
    }
}
