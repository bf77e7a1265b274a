import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "artifacts/", "node_modules/"] },
  js.configs.recommended,
  {
    files: ["**/*.ts", "**/*.mts"],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ["tsconfig.host.json", "tsconfig.view.json", "tsconfig.e2e.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      eqeqeq: "error",
      "max-lines": ["error", { max: 300 }],
      "max-lines-per-function": ["error", { max: 40, skipBlankLines: true, skipComments: true }],
      "max-params": ["error", 6],
      "no-console": "error",
    },
  },
  {
    // The logic and the view are tested without an editor: neither may know it.
    files: ["src/logic/**", "src/view/**", "src/shared/**"],
    rules: { "no-restricted-imports": ["error", { paths: ["vscode"], patterns: ["**/host/**"] }] },
  },
  {
    files: ["src/view/**"],
    rules: {
      "no-restricted-properties": [
        "error",
        { property: "insertAdjacentHTML", message: "Build nodes; what a model writes is never HTML." },
        { property: "outerHTML", message: "Build nodes; what a model writes is never HTML." },
      ],
    },
  },
  {
    files: ["test/**"],
    rules: { "max-lines-per-function": "off", "@typescript-eslint/no-non-null-assertion": "off" },
  },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: { process: "readonly", console: "readonly", fetch: "readonly" } },
  },
);
