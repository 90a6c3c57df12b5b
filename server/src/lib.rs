//! azimuth
