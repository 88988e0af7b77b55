//! The few elements of SVG that drawings are made of.

use std::fmt::Write;

/// Elements in the order in which they are painted.
#[derive(Debug, Default)]
pub struct Svg {
    body: String,
}

/// A point of the page, in pixels from the top left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    pub x: f64,
    pub y: f64,
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub struct Font {
    pub size: f64,
    pub color: &'static str,
    pub anchor: Anchor,
    /// Further attributes: `font-style="italic"`.
    pub style: &'static str,
}

impl Svg {
    /// A comment of one group: `attributes` hold for all that `paint` adds.
    pub fn group(&mut self, attributes: &str, paint: impl FnOnce(&mut Svg)) {
        let mut inner = Svg::default();
        paint(&mut inner);
        if !inner.body.is_empty() {
            let _ = write!(self.body, "<g {attributes}>\n{}</g>\n", inner.body);
        }
    }

    pub fn rect(&mut self, top_left: At, width: f64, height: f64, attributes: &str) {
        let At { x, y } = top_left;
        let _ = writeln!(
            self.body,
            r#"<rect x="{}" y="{}" width="{}" height="{}" {attributes}/>"#,
            number(x),
            number(y),
            number(width),
            number(height)
        );
    }

    pub fn circle(&mut self, center: At, radius: f64, attributes: &str) {
        let (x, y) = (number(center.x), number(center.y));
        let _ = writeln!(self.body, r#"<circle cx="{x}" cy="{y}" r="{}" {attributes}/>"#, number(radius));
    }

    /// A path through commands of SVG's path language.
    pub fn path(&mut self, commands: &str, attributes: &str) {
        let space = if attributes.is_empty() { "" } else { " " };
        let _ = writeln!(self.body, r#"<path d="{commands}"{space}{attributes}/>"#);
    }

    pub fn text(&mut self, at: At, font: Font, text: &str) {
        let anchor = match font.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let space = if font.style.is_empty() { "" } else { " " };
        let _ = writeln!(
            self.body,
            r#"<text x="{}" y="{}" font-size="{}" fill="{}" text-anchor="{anchor}"{space}{}>{}</text>"#,
            number(at.x),
            number(at.y),
            number(font.size),
            font.color,
            font.style,
            escaped(text)
        );
    }

    /// The whole document, `title` for those who cannot see it.
    pub fn document(&self, width: f64, height: f64, title: &str) -> String {
        let (width, height, title) = (number(width), number(height), escaped(title));
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif">
<title>{title}</title>
<rect width="{width}" height="{height}" fill="white"/>
{}</svg>
"#,
            self.body
        )
    }
}

/// At most two decimals, so that output is short and the same everywhere.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 0.5, -0.001, 12.345].map(number), ["1", "0.5", "0", "12.35"]);
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a < b && c[\"x\"]\u{1}"), "a &lt; b &amp;&amp; c[&quot;x&quot;]\u{fffd}");
    }
}
