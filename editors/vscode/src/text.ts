// Texts of others, such as a model's, made safe to be looked at. Pure.

/**
 * Shows what cannot be seen: controls of a terminal, marks that turn text round, letters without width. They could make a
 * text look like another one, or hide one.
 */
export function visible(text: string): string {
  return text.replace(unseen, (c) => {
    const code = c.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    const digits = code.toString(16).padStart(4, '0');
    return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits}`;
  });
}

/** As `visible`, for a message of VS Code: there `[words](command:…)` would be a link that runs a command. */
export function unlinked(text: string): string {
  return visible(text).replaceAll('](', '] (');
}

/** As `visible`, for a label of VS Code: there `$(words)` would be an icon, and no longer be read. */
export function iconless(text: string): string {
  return visible(text).replaceAll('$(', '$ (');
}

/** A text of others that Markdown shows as it is. A space without width is in what would be made a link. */
export function escaped(text: string): string {
  const plain = visible(text).replaceAll(/[\\`*_{}[\]()<>#|~!&]/g, (mark) => `\\${mark}`).replaceAll(/\s+/g, ' ');
  return plain.replaceAll(/\/(?=\/)|www(?=\.)/gi, (start) => `${start}&#8203;`);
}

/** An amount of money, as the server writes it: `format_cost` there has the rule, `tests/amounts.json` the cases. */
export function dollars(cost: number): string {
  const thousandths = Math.round(cost * 1000);
  if (!(cost > 0)) return '$0.00';
  if (thousandths < 1) return '<$0.001';
  return thousandths < 1000 ? `$${(thousandths / 1000).toFixed(3)}` : `$${(Math.round(cost * 100) / 100).toFixed(2)}`;
}

const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
