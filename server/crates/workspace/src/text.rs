//! What a text is: decoded bytes, line ends, hashes, positions.
