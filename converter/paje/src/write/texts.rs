//! Texts without the characters that a Pajé file cannot contain.

/// Maximum length of a name in bytes. A line must stay below 4000 bytes.
pub(super) const MAX_NAME_BYTES: usize = 1000;

/// Appends the name of a type, value or container as written between quotes. A Pajé file cannot
/// contain quotes and line ends in names. Commas are replaced because of lists.
///
/// ```
/// let mut text = Vec::new();
/// tumit_paje::write::text_of_name("say \"a, b\"", &mut text);
/// assert_eq!(text, b"say 'a; b'");
/// ```
pub fn text_of_name(name: &str, out: &mut Vec<u8>) {
    plain_text(name, MAX_NAME_BYTES, out);
}

/// Writes a text without characters that a Pajé file cannot contain. Returns whether characters
/// were replaced or cut off.
pub(super) fn plain_text(text: &str, limit: usize, out: &mut Vec<u8>) -> bool {
    let (start, mut is_changed) = (out.len(), false);
    for character in text.chars() {
        let mut bytes = [0; 4];
        let escape = match character {
            '"' => '\'',
            ',' => ';',
            character if character.is_control() => ' ',
            character => character,
        };
        is_changed |= escape != character;
        let bytes = escape.encode_utf8(&mut bytes).as_bytes();
        if out.len() - start + bytes.len() > limit {
            is_changed = true;
            break;
        }
        out.extend_from_slice(bytes);
    }
    // Not every reader accepts an empty text.
    if out.len() == start {
        out.push(b' ');
    }
    is_changed
}
