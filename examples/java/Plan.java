// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.aistation.Allocator;
import org.aistation.Context;
import org.aistation.Documents;
import org.aistation.Store;

/**
 * The same as ../c/plan.c in Java.
 *
 * <p>java -cp build/release/bindings/java/aistation.jar
 * -Dorg.aistation.library=build/release/bindings/java/libaistation_jni.so examples/java/Plan.java
 * examples/data/cluster.json
 */
public final class Plan {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1) {
            System.err.println("usage: Plan INVENTORY.json");
            System.exit(2);
        }
        String inventory = Files.readString(Path.of(arguments[0]));
        try (Context context = new Context();
                Store store = context.openStore(null);
                Allocator allocator = context.openAllocator(store, inventory)) {
            Documents.NodeInventory machine = context.discover(null, null);
            System.out.println("this machine: " + machine.cards().size() + " cards");
            Documents.Placement placement =
                    allocator.plan(Map.of("cards", 16, "need_nics", true, "department", "risk"));
            placement.explanation().forEach(System.out::println);
            for (Documents.NodeAssignment node : placement.nodes()) {
                System.out.println(node.node() + " " + node.cards().size() + " cards");
            }
        }
    }
}
