//! What makes a connection's bytes meaningless, in Valkey's words.

use std::fmt;

/// The peer does not speak the protocol. Send [`ProtocolError::reply_text`], then close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolError {
    /// `*` was not followed by a legal number.
    InvalidMultibulkLength,
    /// `$` was not followed by a legal number.
    InvalidBulkLength,
    /// An argument began with this byte.
    ExpectedDollar(u8),
    /// A line was not ended by CRLF, nor an argument.
    InvalidCrlf,
    /// An inline command has no end within its limit.
    TooBigInline,
    /// A `*` line has no end within 64 KiB.
    TooBigMultibulkCount,
    /// A `$` line has no end within 64 KiB.
    TooBigBulkCount,
    /// An inline command opens a quote and does not close it.
    UnbalancedQuotes,
    /// Too many arguments for a client that has not authenticated.
    UnauthenticatedMultibulkLength,
    /// Too long an argument for a client that has not authenticated.
    UnauthenticatedBulkLength,
}

impl ProtocolError {
    /// The error reply with its code and without its frame. Not always UTF-8.
    pub fn reply_text(self) -> Vec<u8> {
        let mut text = b"ERR Protocol error: ".to_vec();
        match self {
            Self::ExpectedDollar(byte) => {
                text.extend_from_slice(b"expected '$', got '");
                text.extend_from_slice(&[byte, b'\'']);
            }
            _ => text.extend_from_slice(self.reason().as_bytes()),
        }
        text
    }

    fn reason(self) -> &'static str {
        match self {
            Self::InvalidMultibulkLength => "invalid multibulk length",
            Self::InvalidBulkLength => "invalid bulk length",
            Self::ExpectedDollar(_) => "expected '$'",
            Self::InvalidCrlf => "invalid CRLF in request",
            Self::TooBigInline => "too big inline request",
            Self::TooBigMultibulkCount => "too big mbulk count string",
            Self::TooBigBulkCount => "too big bulk count string",
            Self::UnbalancedQuotes => "unbalanced quotes in request",
            Self::UnauthenticatedMultibulkLength => "unauthenticated multibulk length",
            Self::UnauthenticatedBulkLength => "unauthenticated bulk length",
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExpectedDollar(byte) => {
                write!(f, "Protocol error: expected '$', got '{}'", byte.escape_ascii())
            }
            _ => write!(f, "Protocol error: {}", self.reason()),
        }
    }
}

impl std::error::Error for ProtocolError {}
