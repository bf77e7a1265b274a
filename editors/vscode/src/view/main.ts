/** The page's script: begins the view, and shows what went wrong when it cannot. */

import "./styles/main.css";
import { App } from "./page/app";

const root = document.getElementById("app");
if (root) {
  const app = new App(root);
  window.addEventListener("error", (event) => app.failed(event.error ?? event.message));
  window.addEventListener("unhandledrejection", (event) => app.failed(event.reason));
  app.start();
}
