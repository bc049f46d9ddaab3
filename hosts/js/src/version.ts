/** The version of this package, and of the engines in it. */
export const version = '0.1.0';
