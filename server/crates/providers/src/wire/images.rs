//! Images as each vendor takes them. A vendor refuses a whole conversation for one image of a type that it does not
//! read, so the model gets a word for it instead.

/// The text that stands for an image of a type that the vendor does not read.
pub(super) const UNREADABLE: &str =
    "[The user shows an image here, of a type that you cannot read. Say so if it matters.]";

/// The types that Anthropic reads (`Base64ImageSource` of npm `@anthropic-ai/sdk` 1.12). OpenAI and those who are
/// compatible with it read the same (platform.openai.com/docs/guides/images-vision).
const USUAL: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];
/// The types that Google reads (ai.google.dev/gemini-api/docs/image-understanding).
const GOOGLES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// The type as most vendors call it; none if they do not read it.
pub(super) fn read_by_most(mime_type: &str) -> Option<&'static str> {
    named(mime_type, USUAL)
}

/// The same for Google.
pub(super) fn read_by_google(mime_type: &str) -> Option<&'static str> {
    named(mime_type, GOOGLES)
}

fn named(mime_type: &str, known: &[&'static str]) -> Option<&'static str> {
    // A usual name for it, which is none of the registered ones and which vendors refuse.
    let mime_type = if mime_type.eq_ignore_ascii_case("image/jpg") { "image/jpeg" } else { mime_type };
    known.iter().find(|known| known.eq_ignore_ascii_case(mime_type)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_goes_by_its_registered_name_and_only_to_who_reads_it() {
        assert_eq!(read_by_most("image/JPG"), Some("image/jpeg"));
        assert_eq!((read_by_most("image/gif"), read_by_google("image/gif")), (Some("image/gif"), None));
        assert_eq!((read_by_most("image/heic"), read_by_google("image/heic")), (None, Some("image/heic")));
        assert_eq!((read_by_most("image/svg+xml"), read_by_google("application/pdf")), (None, None));
    }
}
