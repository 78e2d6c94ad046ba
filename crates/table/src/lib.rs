//! Slots: lock words, pages of entry words, records. The unsafe part.
