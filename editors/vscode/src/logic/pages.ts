/** Pages of HTML that the server has made: what has to hold before one is shown in a tab. */

/** A page that is larger is not shown in a tab: the editor would stand still for too long. */
export const MOST_PAGE_BYTES = 64 * 1024 * 1024;

export type Theme = "light" | "dark";

/** How every page of the server begins: with a policy by which it loads nothing and runs no script but its own. */
const BEGINNING =
  /^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="default-src 'none'; [^"]*">\n/;

/** The page in the colours of the editor; undefined when it is none of the server's, or may do more than it should. */
export function inColours(page: string, theme: Theme): string | undefined {
  return BEGINNING.test(page) ? page.replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`) : undefined;
}

/** What is said of a page that is too large. */
export function tooLarge(bytes: number): string {
  return `The page has ${Math.round(bytes / (1024 * 1024))} MB, too much for a tab.`;
}
