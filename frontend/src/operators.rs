//! Julia's operators: how tightly each binds, and which of them can stand before an operand.

/// How tightly an operator binds, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// `=`, `+=`, `.=`, `~`; right to left.
    Assignment,
    /// `=>`; right to left.
    Pair,
    /// `?` of `a ? b : c`.
    Conditional,
    /// `-->`, `→`; right to left.
    Arrow,
    /// `||`; right to left.
    Or,
    /// `&&`; right to left.
    And,
    /// `<`, `==`, `in`, `<:`; chained.
    Comparison,
    /// `<|`; right to left.
    PipeLeft,
    /// `|>`; left to right.
    PipeRight,
    /// `:` and `..`.
    Range,
    /// `+`, `-`, `|`, `⊻`; left to right.
    Plus,
    /// `*`, `/`, `÷`, `%`, `&`; left to right.
    Times,
    /// `//`; left to right.
    Rational,
    /// `<<`, `>>`, `>>>`; left to right.
    Shift,
    /// `^`; right to left.
    Power,
    /// `::` and, on its left side, `->`.
    Declaration,
}

const ASSIGNMENT: &str = "≔≕⩴";
const ARROW: &str = "←→↔↚↛↜↝↞↠↢↣↤↦↩↪↫↬↮↶↷↺↻↼↽⇀⇁⇄⇆⇇⇉⇋⇌⇍⇎⇏⇐⇒⇔⇚⇛⇜⇝⇠⇢⇴⇶⇷⇸⇹⇺⇻⇼⇽⇾⇿⟵⟶⟷⟹⟺⟻⟼⟽⟾⟿⤀⤁⤂⤃⤄⤅⤆⤇⤌⤍⤎⤏⤐⤑⤔⤕⤖⤗⤘⤝⤞⤟⤠⥄⥅⥆⥇⥈⥊⥋⥎⥐⥒⥓⥖⥗⥚⥛⥞⥟⥢⥤⥦⥧⥨⥩⥪⥫⥬⥭⥰⧴⬰⬱⬲⬳⬴⬵⬶⬷⬸⬹⬺⬻⬼⬽⬾⬿⭀⭁⭂⭃⭄⭇⭈⭉⭊⭋⭌￩￫";
const COMPARISON: &str = "∈∉∊∋∌∍∝∥∦∷∺∻∽∾≁≂≃≄≅≆≇≈≉≊≋≌≍≎≐≑≒≓≖≗≘≙≚≛≜≝≞≟≠≡≢≣≤≥≦≧≨≩≪≫≬≭≮≯≰≱≲≳≴≵≶≷≸≹≺≻≼≽≾≿⊀⊁⊂⊃⊄⊅⊆⊇⊈⊉⊊⊋⊏⊐⊑⊒⊜⊢⊣⊩⊬⊮⊰⊱⊲⊳⊴⊵⊶⊷⋍⋐⋑⋕⋖⋗⋘⋙⋚⋛⋜⋝⋞⋟⋠⋡⋢⋣⋤⋥⋦⋧⋨⋩⋪⋫⋬⋭⋲⋳⋴⋵⋶⋷⋸⋹⋺⋻⋼⋽⋾⋿⟂⟈⟉⟒⦷⧀⧁⧡⧣⧤⧥⩦⩧⩪⩫⩬⩭⩮⩯⩰⩱⩲⩳⩵⩶⩷⩸⩹⩺⩻⩼⩽⩾⩿⪀⪁⪂⪃⪄⪅⪆⪇⪈⪉⪊⪋⪌⪍⪎⪏⪐⪑⪒⪓⪔⪕⪖⪗⪘⪙⪚⪛⪜⪝⪞⪟⪠⪡⪢⪣⪤⪥⪦⪧⪨⪩⪪⪫⪬⪭⪮⪯⪰⪱⪲⪳⪴⪵⪶⪷⪸⪹⪺⪻⪼⪽⪾⪿⫀⫁⫂⫃⫄⫅⫆⫇⫈⫉⫊⫋⫌⫍⫎⫏⫐⫑⫒⫓⫔⫕⫖⫗⫘⫙⫷⫸⫹⫺";
const RANGE: &str = "…⁝⋮⋯⋰⋱";
const PLUS: &str = "±∓∔∨∪∸≏⊎⊔⊕⊖⊞⊟⊻⊽⋎⋓⧺⧻⨈⨢⨣⨤⨥⨦⨧⨨⨩⨪⨫⨬⨭⨮⨹⨺⩁⩂⩅⩊⩌⩏⩐⩒⩔⩖⩗⩛⩝⩡⩢⩣¦";
const TIMES: &str = "×÷⅋∗∘∙∤∧∩≀⊍⊓⊗⊘⊙⊚⊛⊠⊡⊼⋄⋅·⋆⋇⋉⋊⋋⋌⋏⋒▷⟑⟕⟖⟗⦸⦼⦾⦿⧶⧷⨇⨝⨟⨰⨱⨲⨳⨴⨵⨶⨷⨸⨻⨼⨽⩀⩃⩄⩋⩍⩎⩑⩓⩕⩘⩚⩜⩞⩟⩠⫛";
const POWER: &str = "↑↓⇵⟰⟱⤈⤉⤊⤋⤒⤓⥉⥌⥍⥏⥑⥔⥕⥘⥙⥜⥝⥠⥡⥣⥥⥮⥯￪￬";
const UNARY_ONLY: &str = "¬√∛∜";

/// Whether a character outside ASCII is an operator of its own.
pub fn is_operator_char(c: char) -> bool {
    !c.is_ascii() && (unicode_precedence(c).is_some() || UNARY_ONLY.contains(c))
}

fn unicode_precedence(c: char) -> Option<Precedence> {
    let table = [
        (ASSIGNMENT, Precedence::Assignment),
        (ARROW, Precedence::Arrow),
        (COMPARISON, Precedence::Comparison),
        (RANGE, Precedence::Range),
        (PLUS, Precedence::Plus),
        (TIMES, Precedence::Times),
        (POWER, Precedence::Power),
    ];
    table.into_iter().find(|(set, _)| set.contains(c)).map(|(_, precedence)| precedence)
}

/// The precedence of an infix operator, without its dot; `None` if it is not one.
pub fn precedence(symbol: &str) -> Option<Precedence> {
    let symbol = symbol.trim_end_matches(is_suffix_char);
    Some(match symbol {
        "=>" => Precedence::Pair,
        "?" => Precedence::Conditional,
        "-->" => Precedence::Arrow,
        "||" => Precedence::Or,
        "&&" => Precedence::And,
        "<" | ">" | "<=" | ">=" | "==" | "===" | "!=" | "!==" | "<:" | ">:" | "in" | "isa" => Precedence::Comparison,
        "<|" => Precedence::PipeLeft,
        "|>" => Precedence::PipeRight,
        ":" | ".." => Precedence::Range,
        "+" | "-" | "|" | "$" | "++" => Precedence::Plus,
        "*" | "/" | "\\" | "%" | "&" => Precedence::Times,
        "//" => Precedence::Rational,
        "<<" | ">>" | ">>>" => Precedence::Shift,
        "^" => Precedence::Power,
        "::" | "->" => Precedence::Declaration,
        "~" | ":=" => Precedence::Assignment,
        _ if is_updating(symbol) || symbol == "=" => Precedence::Assignment,
        _ => {
            let mut chars = symbol.chars();
            return match (chars.next(), chars.next()) {
                (Some(c), None) => unicode_precedence(c),
                _ => None,
            };
        }
    })
}

/// `+=` and its kin: an operator, then `=`.
pub fn is_updating(symbol: &str) -> bool {
    const UPDATING: [&str; 15] =
        ["+=", "-=", "*=", "/=", "//=", "\\=", "^=", "%=", "&=", "|=", "<<=", ">>=", ">>>=", "÷=", "⊻="];
    UPDATING.contains(&symbol) || symbol == "$="
}

/// Operators that stand before an operand, and perhaps between two.
pub fn is_unary(symbol: &str) -> bool {
    const UNARY: [&str; 14] = ["+", "-", "!", "~", "¬", "√", "∛", "∜", "<:", ">:", "&", "$", "::", "⋆"];
    let symbol = symbol.trim_end_matches(is_suffix_char);
    UNARY.contains(&symbol) || matches!(symbol, "±" | "∓")
}

/// Operators that only stand before an operand.
pub fn is_only_unary(symbol: &str) -> bool {
    matches!(symbol, "!" | "¬" | "√" | "∛" | "∜")
}

/// Operators for which `a -b`, where whitespace separates elements, are two elements.
pub fn is_unary_and_binary(symbol: &str) -> bool {
    matches!(symbol, "+" | "-" | "~" | "&" | "$" | "⋆" | "±" | "∓")
}

/// Operators that are syntax and never a value: `=`, `&&`, `->`.
pub fn is_syntactic(symbol: &str) -> bool {
    matches!(symbol, "=" | ":=" | "&&" | "||" | "->" | "-->" | "?" | "..." | "." | "::") || is_updating(symbol)
}

/// Sub- and superscripts and primes that may follow an operator: `+₁`, `*′`.
pub fn is_suffix_char(c: char) -> bool {
    matches!(
        c,
        '²' | '³'
            | '¹'
            | 'ʰ'
            | 'ʲ'
            | 'ʳ'
            | 'ʷ'
            | 'ʸ'
            | 'ˡ'
            | 'ˢ'
            | 'ˣ'
            | '′'
            | '″'
            | '‴'
            | '‵'
            | '‶'
            | '‷'
            | '⁗'
    ) || ('\u{2070}'..='\u{209C}').contains(&c)
        || ('\u{1D2C}'..='\u{1D6A}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_operator_is_listed_twice() {
        let all: Vec<char> =
            [ASSIGNMENT, ARROW, COMPARISON, RANGE, PLUS, TIMES, POWER, UNARY_ONLY].concat().chars().collect();
        let distinct: std::collections::BTreeSet<char> = all.iter().copied().collect();
        assert_eq!(all.len(), distinct.len());
    }

    #[test]
    fn a_suffix_does_not_change_the_precedence() {
        assert_eq!(precedence("+₁"), Some(Precedence::Plus));
        assert_eq!(precedence("÷"), Some(Precedence::Times));
        assert_eq!(precedence("≤"), Some(Precedence::Comparison));
    }
}
