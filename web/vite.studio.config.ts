import { defineConfig } from "vite";
import { slim } from "./vite.slim";

// The page of the studio: what it asks first, the script, one style sheet, served by this machine.
export default defineConfig({
  plugins: [slim()],
  build: {
    outDir: "../src/manipula/reports/web/built",
    emptyOutDir: false, // beside the viewer of reports
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { studio: "src/studio/main.ts", first: "src/studio/first.ts" },
      preserveEntrySignatures: "allow-extension", // what both need is in the first file
      output: { format: "es", entryFileNames: "[name].js", assetFileNames: "studio.[ext]" },
    },
  },
});
