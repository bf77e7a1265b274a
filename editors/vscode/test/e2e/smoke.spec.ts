import { expect, test } from './harness/fixtures';

test('the workbench opens', async ({ bench, picture }) => {
  await bench.command('Agent: Focus on Chat View');
  await expect(bench.page.locator('iframe.webview').first()).toBeVisible();
  await picture('smoke');
});
